package redistest_test

import (
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

func TestSentinelFailsOverWhenTold(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{
		Data: redistest.Options{Password: "p w"}, Replicas: 1, SentinelPassword: "other"})
	old := s.Data[0]
	master, err := s.Failover(s.Sentinels[0], s.Sentinels[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	if master == old {
		t.Error("the master is the same")
	}
	if !strings.HasSuffix(s.URL(), "/mymaster/0?sentinel_password=other") {
		t.Error(s.URL())
	}
}

func TestSentinelFailsOverWhenTheMasterIsKilled(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Data: redistest.Options{TLS: true, Mutual: true},
		Replicas: 1})
	s.Data[0].Kill()
	master, err := s.Failover(s.Sentinels[0], s.Sentinels[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	if master != s.Data[1] {
		t.Errorf("the master is %s", master.Addr())
	}
}
