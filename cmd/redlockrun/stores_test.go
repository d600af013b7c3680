package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"

	"github.com/rogpeppe/go-internal/testscript"
)

// A place is a store of one kind, which scripts use one after the other.
type place struct {
	url, addr string
	env       map[string]string // more settings beside the URL
	servers   []*redistest.Server
	at        func(key string) *redistest.Server // where a key lives
}

type placeKey struct{}

func (p *place) URL() string    { return p.url }
func (p *place) Addr() string   { return p.addr }
func (p *place) Socket() string { return p.addr }

// Do asks the server that has the key, which is the second word.
func (p *place) Do(words ...any) (any, error) { return p.at(words[1].(string)).Do(words...) }

// begin makes the store as good as new.
func (p *place) begin(ts *testscript.TestScript) *place {
	for _, s := range p.servers {
		_, err := s.Do("FLUSHALL")
		ts.Check(err)
	}
	for name, value := range p.env {
		ts.Setenv(name, value)
	}
	return p
}

func onlyAt(s *redistest.Server) func(string) *redistest.Server {
	return func(string) *redistest.Server { return s }
}

func certificates(s *redistest.Server) map[string]string {
	return map[string]string{"REDLOCKRUN_REDIS_CA": s.CA(), "REDLOCKRUN_REDIS_CERT": s.Cert(),
		"REDLOCKRUN_REDIS_KEY": s.Key()}
}

func serverPlace(s *redistest.Server, url string) *place {
	return &place{url: url, addr: s.Addr(), servers: []*redistest.Server{s}, at: onlyAt(s)}
}

// places are the stores that the scripts of one server must run on unchanged.
var places = map[string]func(*testing.T) *place{
	"TLS": func(t *testing.T) *place {
		s := redistest.Start(t, redistest.Options{TLS: true, Mutual: true, Password: "p@ss/word"})
		p := serverPlace(s, s.URL())
		p.env = certificates(s)
		return p
	},
	"user": func(t *testing.T) *place { // who may do all that the README tells of, and nothing else
		rights := []string{lock.MinimalACL, lock.WaitingACL, lock.SlotsACL, lock.LedgerACL, lock.OutputACL,
			lock.ReaderACL,
			lock.OperatorACL}
		s := redistest.Start(t, redistest.Options{
			Users: []string{"jobs on >pw resetchannels ~app:* +type " + strings.Join(rights, " ")}})
		return serverPlace(s, "redis://jobs:pw@"+s.Addr())
	},
	"Sentinel": func(t *testing.T) *place {
		s := redistest.StartSentinel(t, redistest.SentinelOptions{
			Data: redistest.Options{Password: "a"}, Replicas: 1, SentinelPassword: "b"})
		return &place{url: s.URL(), addr: s.Addr(), servers: s.Data[:1], at: onlyAt(s.Data[0]),
			env: map[string]string{"REDLOCKRUN_REPLICAS": "1", "REDLOCKRUN_REPLICAS_TIMEOUT": "60"}}
	},
	"Cluster": func(t *testing.T) *place {
		c := redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{TLS: true}})
		return &place{url: c.URL(), addr: c.Addr(), servers: c.Masters,
			env: map[string]string{"REDLOCKRUN_REDIS_CA": c.CA()},
			at:  func(key string) *redistest.Server { return c.Masters[c.Owner(key)] }}
	},
}

func TestScriptsRunOnEachStore(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	files := storeScripts(t)
	for name, start := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, p := start(t), scripts(t)
			p.Files = files
			setup := p.Setup
			p.Setup = func(env *testscript.Env) error {
				env.Values[placeKey{}] = store
				return setup(env)
			}
			testscript.RunT(inTurn{t}, p)
		})
	}
}

// aServerOfItsOwn matches scripts that only one server can run, or that would disturb the next
// script.
var aServerOfItsOwn = regexp.MustCompile(`(?m)^redis (freeze|thaw|stop|restart|start .)|` +
	`\$REDIS|REDLOCKRUN_REDIS=|--redis\b`)

// storeScripts are the scripts that need a lock, wherever it is kept.
func storeScripts(t *testing.T) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(scriptDir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nredis start\n") && !aServerOfItsOwn.Match(text) {
			files = append(files, path)
		}
	}
	if len(files) < 10 {
		t.Fatalf("only %d scripts run on each store", len(files))
	}
	return files
}

// inTurn runs scripts one after the other.
type inTurn struct{ *testing.T }

func (inTurn) Parallel()     {}
func (inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}
