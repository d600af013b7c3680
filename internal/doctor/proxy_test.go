package doctor_test

import (
	"testing"
	"time"

	"redlockrun/internal/doctor"
	"redlockrun/internal/proof/redistest"
)

// behind is a server with a proxy before it.
func behind(t *testing.T) *redistest.Proxy {
	t.Helper()
	return redistest.NewProxy(t, redistest.Start(t, redistest.Options{Persist: true}))
}

func TestAProxyThatOnlyPassesOnIsFine(t *testing.T) {
	t.Parallel()
	isFine(t, examine(t, at(behind(t).URL())))
}

func TestAProxyThatKnowsNoSubscriptionsIsNamed(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Forbid("SUBSCRIBE", "ERR unknown command 'SUBSCRIBE'")
	found := examine(t, at(p.URL()))
	wants(t, found, "messages", doctor.Warn, "does not know SUBSCRIBE")
	isFine(t, found, "messages")
}

func TestAProxyThatKnowsNoPublishIsNamed(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Forbid("PUBLISH", "ERR unknown command 'PUBLISH'")
	found := examine(t, at(p.URL()))
	wants(t, found, "rights", doctor.Warn, "does not know PUBLISH")
	isFine(t, found, "rights")
}

func TestPublishThatCountsNobodyIsSeen(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Play("PUBLISH", "command(...) return 0")
	found := examine(t, at(p.URL()))
	wants(t, found, "messages", doctor.Warn, "PUBLISH does not count its receivers")
	isFine(t, found, "messages")
}

func TestMessagesThatDoNotArriveAreMissed(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Mute(true)
	e, err := doctor.Open(t.Context(), at(p.URL()), times(), patience)
	if err != nil {
		t.Fatal(err)
	}
	e.Ear = 50 * time.Millisecond
	found := e.Examine(t.Context())
	wants(t, found, "messages", doctor.Warn, "messages do not arrive")
	isFine(t, found, "messages", "host-clock")
}

func TestAProxyWithoutWaitIsNamedIfReplicasAreWanted(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Forbid("WAIT", "ERR unknown command 'WAIT'")
	cfg := at(p.URL())
	isFine(t, examine(t, cfg))
	cfg.Replicas = 1
	wants(t, examine(t, cfg), "replicas", doctor.Fail, "WAIT, which the server does not know")
}

func TestAScriptThatIsToldNoTimeIsSeen(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Play("TIME", "return {'0', '0'}")
	wants(t, examine(t, at(p.URL())), "script-time", doctor.Warn, "returns no time")
}

func TestAServerThatKnowsNoHelloIsAskedByInfo(t *testing.T) {
	t.Parallel()
	p := behind(t)
	p.Forbid("HELLO", "ERR unknown command 'HELLO'")
	found := examine(t, at(p.URL()))
	wants(t, found, "version", doctor.Ok, ", standalone")
	isFine(t, found)
}

func TestAnswersThatTakeTooLongAreTooSlow(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	e, err := doctor.Open(t.Context(), at(s.URL()), times(), patience)
	if err != nil {
		t.Fatal(err)
	}
	e.Times.Try = time.Nanosecond
	wants(t, e.Examine(t.Context()), "round-trip", doctor.Fail, "an answer may take 1ns")
}
