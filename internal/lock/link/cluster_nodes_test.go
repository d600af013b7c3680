package link

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	idA = "07c37dfeb235213a872192d90877d0cd55635b91"
	idB = "67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1"
	idC = "292f8b365bb7edb5e285caf0b7e6ddc7265d2f4f"
)

func TestTheNodesOfAClusterAreRead(t *testing.T) {
	text := idA + " 127.0.0.1:30004@31004 slave " + idB + " 0 1426238317239 4 connected\n" +
		idB + " ::1:30002@31002,node-2.test,shard-id=x master,fail - 0 1426238316232 2 " +
		"disconnected 5461-10922 16383\n" +
		idC + " :30001@31001 myself,master - 0 0 1 connected 0-5460 [93->-" + idB + "] [94-<-" + idA + "]\n"
	got, err := ReadNodes(text, "10.0.0.1:7000")
	want := []Node{
		{ID: idA, Addr: "127.0.0.1:30004", Flags: []string{"slave"}, Master: idB, Linked: true},
		{ID: idB, Addr: "[::1]:30002", Flags: []string{"master", "fail"},
			Slots: []SlotRange{{5461, 10922}, {16383, 16383}}},
		{ID: idC, Addr: "10.0.0.1:30001", Flags: []string{"myself", "master"}, Linked: true,
			Slots: []SlotRange{{0, 5460}},
			Open:  []OpenSlot{{93, false, idB}, {94, true, idA}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if missing := Uncovered(got); !slices.Equal(missing, []SlotRange{{10923, 16382}}) {
		t.Errorf("uncovered: %v", missing)
	}
}

func TestWhatIsNoListOfNodesIsRefused(t *testing.T) {
	node := func(rest string) any { return idA + " h:1@2 master - 0 0 1 " + rest }
	for _, reply := range []any{
		nil, int64(1), "", "\n", "ERR", node(""), node("maybe"), node("connected 16384"), node("connected 5-4"),
		node("connected -1"),
		node("connected [5-<-x]"), node("connected [16384->-" + idB + "]"), node("connected [5->-" + idB),
		node("connected 5]"),
		"short h:1@2 master - 0 0 1 connected", idA + " h:1@2 slave me 0 0 1 connected",
		strings.Repeat(node("connected").(string)+"\n", mostClusterNodes+1),
	} {
		if nodes, err := ReadNodes(reply, "h:1"); err == nil {
			t.Errorf("%.80v: %v", reply, nodes)
		}
	}
}

func TestTheServersOfSlotsAreRead(t *testing.T) {
	reply := []any{
		[]any{int64(0), int64(100), []any{"10.0.0.1", int64(7000), idA, []any{}}, []any{nil, int64(7003), idC}},
		[]any{int64(101), int64(101), []any{"?", int64(7001), idB}},
		[]any{int64(102), int64(16383), []any{"10.0.0.1", int64(7000), idA}},
	}
	got, err := ReadSlots(reply, "10.0.0.9:1")
	want := []Node{
		{ID: idA, Addr: "10.0.0.1:7000", Linked: true, Slots: []SlotRange{{0, 100}, {102, 16383}}},
		{ID: idC, Addr: "10.0.0.9:7003", Linked: true, Master: idA},
		{ID: idB, Addr: "10.0.0.9:7001", Linked: true, Slots: []SlotRange{{101, 101}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if missing := Uncovered(got); missing != nil {
		t.Errorf("uncovered: %v", missing)
	}
	for _, wrong := range []any{
		nil, "x", []any{"x"}, []any{[]any{}}, []any{[]any{int64(0), int64(1)}},
		[]any{[]any{int64(0), int64(16384), []any{}}},
		[]any{[]any{int64(2), int64(1), []any{}}}, []any{[]any{int64(-1), int64(1), []any{}}},
	} {
		if nodes, err := ReadSlots(wrong, "h:1"); err == nil {
			t.Errorf("%v: %v", wrong, nodes)
		}
	}
}

func TestAnEmptyClusterCoversNothing(t *testing.T) {
	if missing := Uncovered(nil); !slices.Equal(missing, []SlotRange{{0, 16383}}) {
		t.Errorf("%v", missing)
	}
}

// Whatever answers in a node's place: what is read of it is in order, or it is an error.
func FuzzWhatANodeTellsOfItsCluster(f *testing.F) {
	f.Add(idA+" 127.0.0.1:1@2,h master,fail? - 0 0 1 connected 0-5 7 [9-<-"+idB+"]\n", int64(0), int64(5), "h",
		int64(1), idA)
	f.Add(idC+" :0@0 myself,slave,noaddr "+idA+" 0 0 0 disconnected", int64(-1), int64(1<<40), "", int64(70000), "x")
	f.Fuzz(func(t *testing.T, text string, first, last int64, host string, port int64, id string) {
		nodes, err := ReadNodes(text, "h:1")
		if err == nil && len(nodes) == 0 {
			t.Fatalf("%q: no node, and no error", text)
		}
		served, _ := ReadSlots([]any{[]any{first, last, []any{host, port, id}, []any{text, first, idB}}}, "h:1")
		for _, n := range Readdressed(append(nodes, served...), served) {
			sound(t, n)
		}
		inOrder(t, Uncovered(nodes))
	})
}

func sound(t *testing.T, n Node) {
	t.Helper()
	if !isNodeID(n.ID) || n.Master != "" && !isNodeID(n.Master) {
		t.Fatalf("%+v", n)
	}
	if _, ok := parseHost(n.Addr, ""); n.Addr != "" && !ok {
		t.Fatalf("address %q", n.Addr)
	}
	for _, r := range n.Slots {
		if r.First < 0 || r.Last < r.First || r.Last >= ClusterSlots {
			t.Fatalf("slots %v", r)
		}
	}
}

func inOrder(t *testing.T, ranges []SlotRange) {
	t.Helper()
	next := 0
	for _, r := range ranges {
		if r.First < next || r.Last < r.First || r.Last >= ClusterSlots {
			t.Fatalf("uncovered: %v", ranges)
		}
		next = r.Last + 2 // else it would be one range
	}
}
