package redistest

import (
	"errors"
	"net"
	"testing"
	"time"
)

func TestAPortIsItsServersUntilItIsClosed(t *testing.T) {
	t.Parallel()
	s, err := New(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	number := s.port.number
	s.Kill()
	if other, err := reserve(number); err == nil {
		other.release()
		t.Error("the port of a server that is down was given to another")
	}
	if err := s.Restart(false); err != nil {
		t.Fatal(err)
	}
	s.Close()
	// Another process may have the port a moment later.
	if err := s.port.kept.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the port of a server that is closed is not free: %v", err)
	}
}

func TestSentinelsAndNodesKeepTheirPortsToo(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t, SentinelOptions{})
	c := StartCluster(t, ClusterOptions{})
	down, node := s.Sentinels[0], c.Masters[0]
	down.Kill()
	node.Kill()
	for name, p := range map[string]*port{"sentinel": down.port, "node": node.port, "bus": node.bus} {
		if other, err := reserve(p.number); err == nil {
			other.release()
			t.Errorf("%s: the port was given to another", name)
		}
	}
}
