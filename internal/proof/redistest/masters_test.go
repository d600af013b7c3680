package redistest_test

import (
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

func TestMastersAreSeveralServersWithOneCA(t *testing.T) {
	t.Parallel()
	m := redistest.StartMasters(t, 2, redistest.Options{TLS: true, Password: "pw"})
	if _, err := m.Servers[0].Do("SET", "a", "1"); err != nil {
		t.Fatal(err)
	}
	if got := get(t, m.Servers[1], "a"); got != nil {
		t.Errorf("the other has a = %v", got)
	}
	for i, url := range m.URLs() {
		if !strings.HasPrefix(url, "rediss://:pw@") || m.Servers[i].CA() != m.CA() {
			t.Errorf("URL %s, CA %s, not %s", url, m.Servers[i].CA(), m.CA())
		}
	}
}
