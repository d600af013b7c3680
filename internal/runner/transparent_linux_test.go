package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What differs from one process to the next anyway, and what the contract adds.
var incidental = regexp.MustCompile(`(?m)^(Pid|Tgid|Ngid|PPid|TracerPid|NSpid|NStgid|NSpgid|NSsid|` +
	`Vm\w+|Rss\w+|HugetlbPages|Threads|SigQ|\w*ctxt_switches|THP_enabled|untag_mask|x86_\w+|Mems_allowed\w*|` +
	`Cpus_allowed\w*|Speculation\w*|CoreDumping|KsmMerge|State):.*\n`)

// around says in which surroundings a command shows what it was given.
const around = `umask 027; ulimit -S -n 300; ulimit -S -c 0; cd /; %s; exec 4>/dev/null 9<"$0"; exec nice -n 3 "$@"`

// compare runs show directly and through the wrapper, in the same surroundings.
func compare(t *testing.T, surroundings, show string) {
	t.Helper()
	output := func(argv ...string) string {
		file := filepath.Join(t.TempDir(), "output")
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		shown := strings.Replace(around, "%s", surroundings, 1)
		cmd := exec.Command("/bin/sh", append([]string{"-c", shown, self()}, argv...)...)
		cmd.Stdout, cmd.Stderr = out, out
		start(t, cmd)
		if c := code(t, cmd); c != 0 {
			t.Fatalf("%q: status %d", argv, c)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(incidental.ReplaceAllString(string(text), ""), file, "OUTPUT")
	}
	argv := []string{"/bin/sh", "-c", show, "name", "two words", ""}
	direct, through := output(argv...), output(wrapped(script{}, argv...)...)
	through = regexp.MustCompile(`RUNNER_TEST_MARKER=[0-9.]*\n`).ReplaceAllString(through, "")
	want, got := strings.Split(direct, "\n"), strings.Split(through, "\n")
	for n := range max(len(want), len(got)) {
		if n >= len(want) || n >= len(got) || want[n] != got[n] {
			t.Fatalf("from line %d on:\ndirectly:            %q\nthrough the wrapper: %q",
				n, want[min(n, len(want)):], got[min(n, len(got)):])
		}
	}
}

const everything = `cat /proc/self/status /proc/self/limits; umask; pwd; nice
	tr '\0' '\n' </proc/$$/environ; tr '\0' '\n' </proc/$$/cmdline
	cat /proc/$$/oom_score_adj; cut -d' ' -f40,41 /proc/$$/stat; ls /proc/$$/fd
	for n in 0 1 2 4 9; do readlink /proc/$$/fd/$n; grep flags /proc/$$/fdinfo/$n; done`

func TestTheCommandSeesNoDifference(t *testing.T) {
	for _, surroundings := range []string{
		`:`,
		`trap "" HUP`,
		`trap "" HUP INT TSTP TTIN TTOU`,
		`ulimit -S -s 4096; ulimit -f 1000000; ulimit -S -v 100000000`,
		`exec 3</dev/zero`,
		`exec 5</dev/zero 6</dev/zero 7</dev/null`,
		`set -- env --block-signal=USR1 --block-signal=TERM --block-signal=HUP --block-signal=TSTP "$@"`,
	} {
		t.Run(surroundings, func(t *testing.T) { compare(t, surroundings, everything) })
	}
}

// The open file is shared with the caller: turning it into a blocking one would be seen there.
func TestANonblockingStdinStaysNonblocking(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[1])
	for _, how := range [][]string{nil, wrapped(script{})} {
		out := filepath.Join(t.TempDir(), "out")
		argv := append([]string{"/bin/sh", "-c", `"$@" /bin/grep flags /proc/self/fdinfo/0 >"$0"`, out}, how...)
		attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{uintptr(ends[0]), 1, 2}}
		pid, err := syscall.ForkExec(argv[0], argv, attr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
			t.Fatal(err)
		}
		if got := lines(out); len(got) != 1 || !strings.HasSuffix(got[0], "4000") { // O_NONBLOCK
			t.Errorf("%q: %q", how, got)
		}
	}
	if flags, err := unix.FcntlInt(uintptr(ends[0]), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK == 0 {
		t.Errorf("flags %o, %v", flags, err)
	}
}

// The one difference that the Go runtime makes: it opens /dev/null where a stream is closed.
func TestAClosedStdinBecomesDevNull(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	argv := wrapped(script{}, "/bin/sh", "-c", "readlink /proc/$$/fd/0")
	cmd := exec.Command("/bin/sh", append([]string{"-c", `"$@" <&- >"$0"`, out}, argv...)...)
	start(t, cmd)
	if c := code(t, cmd); c != 0 || len(lines(out)) != 1 || lines(out)[0] != "/dev/null" {
		t.Errorf("got status %d, %q", c, lines(out))
	}
}
