package link

import (
	"crypto/tls"
	"net"
	"slices"
	"testing"
)

// The alerts of crypto/tls as they come from a peer, one of each kind.
func TestSomeAlertsAreRefusals(t *testing.T) {
	t.Parallel()
	for code := range 256 {
		ours, its := net.Pipe()
		go func() {
			its.Read(make([]byte, 1<<16)) // what the client begins with
			its.Write([]byte{21, 3, 3, 0, 2, 2, byte(code)})
			its.Close()
		}()
		err := tls.Client(ours, &tls.Config{InsecureSkipVerify: true}).Handshake()
		ours.Close()
		if got, want := turnedAway(err), slices.Contains(refusingAlerts[:], tls.AlertError(code)); err == nil ||
			got != want {
			t.Errorf("alert %d: %v; refused: %v, want %v", code, err, got, want)
		}
	}
	if turnedAway(&net.OpError{Op: "local error", Err: refusingAlerts[0]}) {
		t.Error("what we say ourselves is taken for the server's")
	}
}
