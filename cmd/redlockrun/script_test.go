package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/proof/redistest"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// patience bounds each wait for a state that must come: far more than a busy
// machine needs.
const patience = 60 * time.Second

// TestScripts runs what a user can see, one scenario a file.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := scripts(t)
	p.Dir = scriptDir
	testscript.Run(t, p)
}

const scriptDir = "../../testdata/script"

// scripts returns the parameters of a run of scripts, without the choice of scripts.
func scripts(t *testing.T) testscript.Params {
	bin := filepath.Dir(binary(t))
	return testscript.Params{
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv(config.FileVar, "/dev/null")
			env.Setenv(raceVar, os.Getenv(raceVar))
			env.Values[serversKey{}] = make(servers)
			env.Values[backgroundsKey{}] = make(backgrounds)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"redis":       redisCommand,
			"group":       groupCommand,
			"redis-do":    redisDo,
			"redis-until": redisUntil,
			"redis-eval":  redisEval,
			"status":      statusCommand,
			"start":       startCommand,
			"ended":       endedCommand,
			"signal":      signalCommand,
			"waitfile":    waitFile,
			"waitkey":     waitKey,
			"cmperr":      compareStderr,
			"overlap":     overlapCommand,
			"put":         putCommand,
		},
	}
}

// A server is where the lock of a script lives.
type server interface {
	URL() string
	Addr() string
	Socket() string
	Do(words ...any) (any, error)
}

// servers are the redis-servers of a script, by name.
type (
	servers    map[string]server
	serversKey struct{}
)

// redisCommand is
//
//	redis start [NAME [password PW] [tls [name HOST]] [ARG...]]
//	redis freeze|thaw|stop|restart|reload [NAME]
//
// start sets $REDIS (for NAME x: $x) to the URL, and makes it the one that redlockrun asks.
// restart leaves a server no data; reload leaves them on disk, and does not wait until they
// are loaded.
func redisCommand(ts *testscript.TestScript, neg bool, args []string) {
	all := ts.Value(serversKey{}).(servers)
	name := "REDIS"
	if len(args) > 1 {
		name = args[1]
	}
	if args[0] == "start" {
		if one, shared := ts.Value(placeKey{}).(*place); shared {
			all[name] = one.begin(ts)
		} else {
			all[name] = startRedis(ts, args[min(2, len(args)):])
		}
		ts.Setenv(name, all[name].URL())
		ts.Setenv(name+"_ADDR", all[name].Addr())
		ts.Setenv(name+"_SOCKET", all[name].Socket())
		ts.Setenv(name+"_PORT", all[name].Addr()[strings.LastIndexByte(all[name].Addr(), ':')+1:])
		ts.Setenv("REDLOCKRUN_REDIS", all[name].URL())
		return
	}
	s := all[name].(*redistest.Server)
	switch args[0] {
	case "freeze":
		ts.Check(s.Signal(syscall.SIGSTOP))
	case "thaw":
		ts.Check(s.Signal(syscall.SIGCONT))
	case "stop":
		s.Kill()
	case "restart":
		ts.Check(s.Restart(false))
	case "reload":
		loaded := make(chan error, 1)
		go func() { loaded <- s.Restart(true) }()
		ts.Defer(func() { <-loaded }) // or ended
	default:
		ts.Fatalf("redis: what is %s?", args[0])
	}
}

func startRedis(ts *testscript.TestScript, args []string) *redistest.Server {
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), "redis")
	ts.Check(err)
	var opts redistest.Options
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "password":
			i++
			opts.Password = args[i]
		case "tls":
			opts.TLS = true
		case "name":
			i++
			ts.Check(certify(&opts, dir, args[i]))
		case "user":
			i++
			opts.Users = append(opts.Users, args[i])
		default:
			opts.Args = append(opts.Args, args[i])
		}
	}
	s, err := redistest.New(dir, opts)
	ts.Check(err)
	if opts.TLS {
		ts.Setenv("CA", s.CA())
	}
	ts.Defer(s.Close)
	return s
}

// certify gives a server a certificate for host alone.
func certify(opts *redistest.Options, dir, host string) (err error) {
	if opts.CA, err = redistest.NewCA(dir); err != nil {
		return err
	}
	opts.Pair, err = opts.CA.Issue("named", time.Now().Add(time.Hour), host)
	return err
}

// redisDo is redis-do [@NAME] WORD..., which asks the server REDIS, or NAME; the reply is its output.
func redisDo(ts *testscript.TestScript, neg bool, args []string) {
	server, args := named(args)
	reply, refused := askRedis(ts, server, args)
	fmt.Fprintln(ts.Stdout(), reply)
	if neg != refused {
		ts.Fatalf("redis-do: %s", reply)
	}
}

// redisEval is redis-eval [@NAME] FILE [ARG...]: a script in Lua, with words as ARGV.
func redisEval(ts *testscript.TestScript, neg bool, args []string) {
	server, args := named(args)
	redisDo(ts, neg, append([]string{"@" + server, "EVAL", ts.ReadFile(args[0]), "0"}, args[1:]...))
}

// redisUntil is redis-until [@NAME] TEXT WORD...: the reply of the server REDIS, or NAME, which
// may be a refusal, has TEXT in it.
func redisUntil(ts *testscript.TestScript, neg bool, args []string) {
	server, args := named(args)
	eventually(ts, "redis-until "+strings.Join(args, " "), func() bool {
		reply, _ := askRedis(ts, server, args[1:])
		return strings.Contains(reply, args[0]) != neg
	})
}

// named takes @NAME from the words, if that is the first.
func named(args []string) (server string, words []string) {
	if name, found := strings.CutPrefix(args[0], "@"); found {
		return name, args[1:]
	}
	return "REDIS", args
}

func askRedis(ts *testscript.TestScript, server string, args []string) (reply string, refused bool) {
	words := make([]any, len(args))
	for i, arg := range args {
		words[i] = arg
	}
	said, err := ts.Value(serversKey{}).(servers)[server].Do(words...)
	if err != nil {
		return err.Error(), true
	}
	return fmt.Sprint(said), false
}

// statusCommand is status N COMMAND..., which must end with that status. What it
// starts in the background must not keep its output.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	got := 0
	if exit != nil {
		got = statusOf(exit.ProcessState)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}

// statusOf is the status as a shell would give it.
func statusOf(state *os.ProcessState) int {
	if wait := state.Sys().(syscall.WaitStatus); wait.Signaled() {
		return 128 + int(wait.Signal())
	}
	return state.ExitCode()
}

// A background is a command that start has started.
type background struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// backgrounds are the background processes of a script, by name.
type (
	backgrounds    map[string]*background
	backgroundsKey struct{}
)

// startCommand is start NAME COMMAND..., with the files NAME.out and NAME.err
// as its output, so that a script can look at them while it runs.
func startCommand(ts *testscript.TestScript, neg bool, args []string) {
	name := args[0]
	cmd := exec.Command(lookPath(ts, args[1]), args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnv(ts)
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// Its own group, so that a signal of the test is for it alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(cmd.Start())
	b := &background{cmd, make(chan struct{})}
	go func() { defer close(b.done); cmd.Wait() }()
	ts.Value(backgroundsKey{}).(backgrounds)[name] = b
	ts.Defer(func() { cmd.Process.Signal(syscall.SIGCONT); cmd.Process.Kill(); <-b.done })
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); unix.Access(path, unix.X_OK) == nil {
			return path
		}
	}
	return ts.MkAbs(name)
}

// scriptEnv is the environment of the script, as far as redlockrun looks at it.
func scriptEnv(ts *testscript.TestScript) (env []string) {
	names := []string{"PATH", "HOME", "TMPDIR", "WORK", "REDIS_URL", raceVar, config.FileVar, config.HeldRunsVar,
		config.HeldKeyVar}
	for _, s := range config.Settings() {
		names = append(names, s.Variable())
	}
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// endedCommand is ended NAME STATUS: it waits for what start has started.
func endedCommand(ts *testscript.TestScript, neg bool, args []string) {
	b := ts.Value(backgroundsKey{}).(backgrounds)[args[0]]
	select {
	case <-b.done:
	case <-time.After(patience):
		ts.Fatalf("%s runs and runs", args[0])
	}
	if got := strconv.Itoa(statusOf(b.cmd.ProcessState)); got != args[1] {
		ts.Fatalf("%s: status %s, want %s\n%s", args[0], got, args[1], ts.ReadFile(args[0]+".err"))
	}
}

// signalCommand is signal SIGNAL NAME|FILE, with what start has started or
// the process whose number is in FILE.
func signalCommand(ts *testscript.TestScript, neg bool, args []string) {
	sig := unix.SignalNum("SIG" + args[0])
	if b := ts.Value(backgroundsKey{}).(backgrounds)[args[1]]; b != nil {
		ts.Check(b.cmd.Process.Signal(sig))
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, sig))
}

// eventually fails the script unless a state comes.
func eventually(ts *testscript.TestScript, what string, state func() bool) {
	if !redistest.Until(patience, state) {
		ts.Fatalf("%s: it did not come", what)
	}
}

// waitFile is [!] waitfile FILE [TEXT]: FILE exists, with TEXT in it.
func waitFile(ts *testscript.TestScript, neg bool, args []string) {
	eventually(ts, "waitfile "+strings.Join(args, " "), func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return (err == nil && strings.Contains(string(text), strings.Join(args[1:], " "))) != neg
	})
}

// waitKey is [!] waitkey KEY: the server REDIS has it.
func waitKey(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serversKey{}).(servers)["REDIS"]
	eventually(ts, "waitkey "+args[0], func() bool {
		n, err := s.Do("EXISTS", args[0])
		return err == nil && (n == int64(1)) != neg
	})
}

// compareStderr is cmperr WANT [FILE]: stderr, or FILE, equals WANT to the byte, except what
// differs from run to run.
func compareStderr(ts *testscript.TestScript, neg bool, args []string) {
	file := "stderr"
	if len(args) > 1 {
		file = args[1]
	}
	got, want := normal(ts, ts.ReadFile(file)), ts.ReadFile(args[0])
	if got != want {
		ts.Fatalf("%s is not %s:\n--- got\n%s--- want\n%s", file, args[0], got, want)
	}
}

var volatile = []struct {
	pattern *regexp.Regexp
	stands  string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|` +
		`(\d{4}-\d\d-\d\d )?\b\d\d:\d\d:\d\d [A-Z]+([+-][0-9:]*[0-9])?`), "TIME"},
	// Redis 6 says less.
	{regexp.MustCompile(`(WRONGPASS invalid username-password pair)( or user is disabled\.)?`), "$1"},
	{regexp.MustCompile(`HOST:\d+`), "HOST:PID"},
	{regexp.MustCompile(`\b([0-9.]+(h|m|s|ms|µs))+ left`), "LEFT left"},
	{regexp.MustCompile(` on [^ ]+ after ([0-9.]+(h|m|s|ms|µs))+,`), " on HOST after TIME,"},
	{regexp.MustCompile(`has been held for [0-9.hmsµ]+`), "has been held for HELD"},
	{regexp.MustCompile(`for ([0-9.]+(h|m|s|ms|µs))+: \d+ renewals, (\d+) failed tries, ` +
		`smallest margin ([0-9.]+(h|m|s|ms|µs))+`),
		"for TIME: N renewals, $3 failed tries, smallest margin TIME"},
}

func normal(ts *testscript.TestScript, text string) string {
	replace := []string{ts.Getenv("WORK"), "$WORK"}
	if host, err := os.Hostname(); err == nil {
		replace = append(replace, host+":", "HOST:", " "+host+" at ", " HOST at ", " "+host+" (", " HOST (")
	}
	if u, err := user.Current(); err == nil {
		replace = append(replace, "("+u.Username+",", "(USER,")
	}
	for name, s := range ts.Value(serversKey{}).(servers) {
		replace = append(replace, s.Addr(), name, s.Socket(), name)
	}
	text = strings.NewReplacer(replace...).Replace(text)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.stands)
	}
	return text
}

// overlapCommand is overlap LOG N: N runs have written to LOG, never two at once.
func overlapCommand(ts *testscript.TestScript, neg bool, args []string) {
	runs, err := checkRuns(ts.ReadFile(args[0]))
	ts.Check(err)
	if strconv.Itoa(len(runs)) != args[1] {
		ts.Fatalf("%d runs, want %s", len(runs), args[1])
	}
}

// putCommand is put FILE TEXT: it makes FILE, at once with its content.
func putCommand(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path+".new", []byte(strings.Join(args[1:], " ")+"\n"), 0o600))
	ts.Check(os.Rename(path+".new", path))
}
