package redistest_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

func TestACutCableLosesEverythingInSilence(t *testing.T) {
	t.Parallel()
	n := redistest.NewNetwork(t)
	s := redistest.Start(t, redistest.Options{On: n.Right})
	dial := func(h *redistest.Host, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c, err := h.DialContext(ctx, "tcp", s.Addr())
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial(n.Left, patience); err != nil {
		t.Fatal(err)
	}
	if err := n.Cut(); err != nil {
		t.Fatal(err)
	}
	err := dial(n.Left, 100*time.Millisecond)
	if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
		t.Errorf("across the cut: %v", err)
	}
	if err := dial(n.Right, patience); err != nil {
		t.Errorf("on this side of it: %v", err)
	}
	if err := n.Heal(); err != nil {
		t.Fatal(err)
	}
	if err := dial(n.Left, patience); err != nil {
		t.Errorf("healed: %v", err)
	}
	if out, err := n.Left.Command("ip", "-o", "link").Output(); err != nil || strings.Count(string(out), "\n") != 2 {
		t.Errorf("links of the host: %s, %v", out, err)
	}
	if own, err := os.Readlink("/proc/self/ns/net"); err != nil || own == "" {
		t.Error(own, err)
	}
}
