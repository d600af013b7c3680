package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/proof/ability"
)

// A Network is two hosts and the cable between them: two network namespaces of
// their own, which end with the test. This machine's own network knows nothing
// of them. It needs root, ip(8), nsenter(1) and unshare(1).
type Network struct{ Left, Right *Host }

// A Host is one end of a [Network]; nil is this machine, by its loopback.
type Host struct {
	ip   string
	mac  string
	keep *exec.Cmd // holds the namespace open
	hold io.Closer // its standard input
}

// NewNetwork makes two hosts that reach each other.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	ability.Need(t, ability.Networks)
	n := makeNetwork()
	t.Cleanup(n.close)
	if err := n.open(); err != nil {
		t.Fatalf("make network namespaces (this needs root): %v", err)
	}
	return n
}

func makeNetwork() *Network {
	return &Network{&Host{ip: "10.0.0.1", mac: "02:00:00:00:00:01"}, &Host{ip: "10.0.0.2", mac: "02:00:00:00:00:02"}}
}

func (n *Network) open() error {
	if err := errors.Join(n.Left.open(), n.Right.open()); err != nil {
		return err
	}
	err := n.Left.ip8(fmt.Sprintf("link add eth0 address %s type veth peer name eth0 address %s netns %d",
		n.Left.mac, n.Right.mac, n.Right.keep.Process.Pid))
	for _, h := range []*Host{n.Left, n.Right} {
		err = errors.Join(err, h.ip8("link set lo up", "addr add "+h.ip+"/24 dev eth0", "link set eth0 up"))
	}
	return errors.Join(err, n.Heal())
}

// Cut stops everything between the two hosts: what is sent is lost in silence,
// in both directions, and no connection is told.
func (n *Network) Cut() error {
	const nobody = "02:00:00:00:00:ff"
	return errors.Join(n.Left.reach(n.Right.ip, nobody), n.Right.reach(n.Left.ip, nobody))
}

// Heal undoes Cut.
func (n *Network) Heal() error {
	return errors.Join(n.Left.reach(n.Right.ip, n.Right.mac), n.Right.reach(n.Left.ip, n.Left.mac))
}

func (n *Network) close() {
	for _, h := range []*Host{n.Left, n.Right} {
		if h.keep != nil {
			h.hold.Close()
			h.keep.Wait()
		}
	}
}

// open starts a process in a namespace of its own, and returns when it is there.
func (h *Host) open() error {
	keep := exec.Command("unshare", "--net", "cat")
	in, err := keep.StdinPipe()
	if err != nil {
		return err
	}
	out, err := keep.StdoutPipe()
	if err != nil {
		return err
	}
	if err := startBound(keep); err != nil {
		return err
	}
	h.keep, h.hold = keep, in
	if _, err := io.WriteString(in, "ready\n"); err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return err
}

// reach says which hardware address packets to ip are sent to.
func (h *Host) reach(ip, mac string) error {
	return h.ip8("neigh replace " + ip + " lladdr " + mac + " dev eth0 nud permanent")
}

// ip8 runs commands of ip(8) on the host.
func (h *Host) ip8(lines ...string) error {
	cmd := h.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w\n%s", strings.Join(lines, "; "), err, out)
	}
	return nil
}

// IP is the host's address.
func (h *Host) IP() string {
	if h == nil {
		return "127.0.0.1"
	}
	return h.ip
}

// Command is exec.Command on the host. The process's id is the command's own.
func (h *Host) Command(name string, args ...string) *exec.Cmd {
	if h == nil {
		return exec.Command(name, args...)
	}
	inside := []string{"--target", strconv.Itoa(h.keep.Process.Pid), "--net", name}
	return exec.Command("nsenter", append(inside, args...)...)
}
