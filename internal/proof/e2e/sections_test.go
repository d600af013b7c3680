//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// A sectionShell is a shell, and the example of docs/sections.md that it runs.
type sectionShell struct {
	name, example string
	argv          []string
}

var sectionShells = []sectionShell{
	{"bash coprocess", "sectionbash", []string{"bash"}},
	{"bash", "section", []string{"bash"}},
	{"dash", "section", []string{"dash"}},
	{"busybox", "section", []string{"busybox", "sh"}},
}

const (
	sectionFlags = "--key deploy --wait 5m" // of the examples
	begunSection = "built\nbegun\n"
	wholeSection = begunSection + "deployed\nfree\nnotified\n"
)

// A section is one run of an example.
type section struct {
	*site
	key    string
	cmd    *exec.Cmd
	input  *os.File // of ./deploy, which ends with it
	dir    string   // of its own: its stdout, its stderr, and tmp
	want   sectionCase
	holder int // the redlockrun that it has started, once it was signalled
}

// A sectionCase is what happens to some sections at once.
type sectionCase struct {
	name   string
	flags  string                                        // of the lock
	change func(script string) string                    // before it runs
	before func(s *site, key string) (undo func())       // before it starts, and once it has ended
	act    func(t *testing.T, s *site, group []*section) // once each is in ./deploy; nil if none gets there
	after  func(t *testing.T, s *site, group []*section) // once each has ended
	status int                                           // of the script; 128+n if signal n ended it
	stdout string
	within time.Duration // from act to the end of the script; 0 is [patience]
}

func finishInput(_ *testing.T, _ *site, group []*section) {
	for _, c := range group {
		c.input.Close()
	}
}

// deployed checks that ./deploy has outlived its script, and ends it.
func deployed(t *testing.T, s *site, group []*section) {
	finishInput(t, s, group)
	for _, c := range group {
		c.prints(t, c.want.stdout+"deployed\n")
	}
}

func steal(t *testing.T, s *site, group []*section) {
	for _, c := range group {
		if _, err := s.server.Do("SET", "redlockrun:{"+c.key+"}", "other", "PX", "2000"); err != nil {
			t.Error(err)
		}
	}
}

func killHolders(t *testing.T, _ *site, group []*section) {
	for _, c := range group {
		c.signalHolder(t, syscall.SIGKILL)
	}
}

func freezeHolders(t *testing.T, _ *site, group []*section) {
	for _, c := range group {
		c.signalHolder(t, syscall.SIGSTOP)
	}
}

func continueHolders(t *testing.T, s *site, group []*section) {
	for _, c := range group {
		c.signalHolder(t, syscall.SIGCONT)
	}
	deployed(t, s, group)
}

func stop(t *testing.T, s *site, group []*section) {
	for _, c := range group {
		if r := s.run("redlockrun", "stop", c.key); r.status != 0 {
			t.Error(r)
		}
	}
}

func freeze(t *testing.T, s *site, _ []*section) {
	if err := s.server.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	t.Cleanup(func() { s.server.Signal(syscall.SIGCONT) })
}

func thaw(t *testing.T, s *site, group []*section) {
	if err := s.server.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	deployed(t, s, group)
}

func killScripts(t *testing.T, _ *site, group []*section) {
	for _, c := range group {
		if err := c.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
}

// renewed checks that the lock is still renewed, for ./deploy runs.
func renewed(t *testing.T, s *site, group []*section) {
	for _, c := range group {
		key := "redlockrun:{" + c.key + "}"
		if reply, err := s.server.Do("PEXPIRE", key, "60000"); err != nil || reply != int64(1) {
			t.Errorf("%s: the lock is gone: %v, %v", c.key, reply, err)
		}
		if !redistest.Until(patience, func() bool {
			left, err := s.server.Do("PTTL", key)
			return err == nil && left.(int64) < 3000
		}) {
			t.Errorf("%s is not renewed", c.key)
		}
	}
	deployed(t, s, group)
}

func strict(script string) string {
	return strings.Replace(script, "\nlock() {", "\nset -eu\nlock() {", 1)
}

func inSubshell(script string) string {
	script = strings.Replace(script, "\nlock --key", "\n(lock --key", 1)
	return strings.Replace(script, "\nunlock || exit\n", "\nunlock || exit)\necho ended with $?\n", 1)
}

func exits(script string) string {
	return strings.Replace(script, "\n./deploy\n", "\n./deploy\nexit 3\n", 1)
}

func misspelt(script string) string {
	return strings.Replace(script, `redlockrun "$@"`, `not-there "$@"`, 1)
}

var sectionCases = []sectionCase{
	{name: "normal end", act: finishInput, stdout: wholeSection},
	{name: "normal end, set -eu", change: strict, act: finishInput, stdout: wholeSection},
	{name: "exit inside", change: exits, act: finishInput, status: 3, stdout: begunSection + "deployed\n"},
	{name: "busy", before: (*site).hold, status: 75, stdout: "built\n"},
	{name: "no Redis", flags: "--redis redis://127.0.0.1:1 --redis-timeout 0.3", status: 69, stdout: "built\n"},
	{name: "not found", change: misspelt, status: 127, stdout: "built\n"},
	{name: "wrong flag", flags: "--wrong", status: 64, stdout: "built\n"},
	{name: "lost", flags: "--ttl 2 --renew-every 0.1", act: steal, after: deployed, status: 143,
		stdout: begunSection},
	{name: "lost in a subshell", flags: "--ttl 2 --renew-every 0.1", change: inSubshell, act: steal, after: deployed,
		status: 75, stdout: begunSection + "ended with 143\n"},
	{name: "stopped", flags: "--ttl 2 --renew-every 0.1", act: stop, after: deployed, status: 143,
		stdout: begunSection},
	{name: "redlockrun killed", flags: "--ttl 3", act: killHolders, after: deployed, status: 143, stdout: begunSection,
		within: 3 * time.Second},
	// The guard ends cat shortly before the lease ends, as its own tests check. Under load it may be late.
	{name: "redlockrun frozen", flags: "--ttl 6", act: freezeHolders, after: continueHolders, status: 143,
		stdout: begunSection, within: 9 * time.Second},
	{name: "Redis frozen", flags: "--ttl 6", act: freeze, after: thaw, status: 143, stdout: begunSection,
		within: 6 * time.Second},
	{name: "script killed", flags: "--ttl 2 --renew-every 0.2", act: killScripts, after: renewed, status: 137,
		stdout: begunSection},
}

// REDLOCKRUN_TEST_STORM says how often each case comes in each shell.
func TestASectionEndsWellInEachCase(t *testing.T) {
	t.Parallel()
	times, together := 3, 3
	if n, err := strconv.Atoi(os.Getenv("REDLOCKRUN_TEST_STORM")); err == nil {
		times, together = n, 10
	}
	for _, shell := range sectionShells {
		for _, c := range sectionCases {
			t.Run(shell.name+": "+c.name, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(shell.argv[0]); err != nil {
					t.Skip(err)
				}
				s := newSite(t)
				for n := 0; n < times && !t.Failed(); n += together {
					c.happen(t, s, shell, n, min(together, times-n))
				}
			})
		}
	}
}

// happen runs some sections at once.
func (c sectionCase) happen(t *testing.T, s *site, shell sectionShell, first, some int) {
	t.Helper()
	script := example(t, shell, c)
	var group []*section
	for n := range some {
		key := fmt.Sprint("s", first+n)
		if c.before != nil {
			defer c.before(s, key)()
		}
		group = append(group, c.begin(t, s, shell, key, script))
	}
	begun := time.Now()
	if c.act != nil {
		for _, one := range group {
			one.prints(t, begunSection)
		}
		begun = time.Now()
		c.act(t, s, group)
	}
	for _, one := range group {
		one.ends(t, begun)
	}
	if c.after != nil {
		c.after(t, s, group)
	}
	for _, one := range group {
		one.leavesNothing(t)
	}
}

// example is the text of the page, with the flags and the change of a case.
func example(t *testing.T, shell sectionShell, c sectionCase) string {
	t.Helper()
	script := block(t, shell.example)
	if strings.Count(script, sectionFlags) != 1 {
		t.Fatalf("%q stands not once in the example", sectionFlags)
	}
	script = strings.Replace(script, sectionFlags, `--key "$KEY" `+c.flags, 1)
	if c.change == nil {
		return script
	}
	changed := c.change(script)
	if changed == script {
		t.Fatal("the example lacks the line that this case changes")
	}
	return changed
}

// begin starts the script in a directory with what it calls.
func (c sectionCase) begin(t *testing.T, s *site, shell sectionShell, key, script string) *section {
	t.Helper()
	one := &section{site: s, key: key, dir: t.TempDir(), want: c}
	for name, text := range map[string]string{
		"build": "echo built", "deploy": "echo begun; cat; echo deployed", "script": script,
		"notify": `redlockrun -n --key "$KEY" -- echo free && echo notified`,
	} {
		provideProgram(t, filepath.Join(one.dir, name), "#!/bin/sh\n"+text+"\n")
	}
	if err := os.Mkdir(filepath.Join(one.dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	one.cmd = exec.CommandContext(ctx, shell.argv[0], append(shell.argv[1:], "./script")...)
	one.cmd.Env = append(slices.Clone(s.env), "KEY="+key, "TMPDIR="+filepath.Join(one.dir, "tmp"), one.mark())
	one.start(t)
	return one
}

// provideProgram writes a program. No process that is forked meanwhile may inherit the open file: while one has it open
// for writing, nobody can execute it.
func provideProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// start starts the script; its input stays open when it has ended.
func (c *section) start(t *testing.T) {
	t.Helper()
	input, output, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	c.input = output
	t.Cleanup(func() { output.Close() })
	c.cmd.Dir, c.cmd.Stdin = c.dir, input
	for name, to := range map[string]*io.Writer{"stdout": &c.cmd.Stdout, "stderr": &c.cmd.Stderr} {
		file, err := os.Create(filepath.Join(c.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		*to = file
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (c *section) mark() string { return "SECTION=" + c.dir }

func (c *section) printed(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(text)
}

func (c *section) prints(t *testing.T, want string) {
	t.Helper()
	if !redistest.Until(patience, func() bool { return c.printed("stdout") == want }) {
		t.Fatalf("%s: stdout %q, want %q; stderr %q", c.key, c.printed("stdout"), want, c.printed("stderr"))
	}
}

// ends waits for the script's end.
func (c *section) ends(t *testing.T, begun time.Time) {
	t.Helper()
	c.cmd.Wait()
	took := time.Since(begun)
	wait := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	status := wait.ExitStatus()
	if wait.Signaled() {
		status = 128 + int(wait.Signal())
	}
	if status != c.want.status || c.printed("stdout") != c.want.stdout {
		t.Errorf("%s: status %d, stdout %q, want %d, %q; stderr %q", c.key, status, c.printed("stdout"), c.want.status,
			c.want.stdout, c.printed("stderr"))
	}
	if c.want.within != 0 && took >= c.want.within {
		t.Errorf("%s: it ended after %v, want less than %v", c.key, took, c.want.within)
	}
	t.Logf("%s: ended after %v", c.key, took)
}

// signalHolder sends a signal to the redlockrun that the script has started.
func (c *section) signalHolder(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if c.holder == 0 {
		c.holder = c.child("redlockrun")
	}
	if c.holder == 0 {
		t.Fatalf("%s: no redlockrun", c.key)
	}
	if err := syscall.Kill(c.holder, sig); err != nil {
		t.Errorf("%s: signal redlockrun: %v", c.key, err)
	}
}

// child is the script's process of that name, or 0.
func (c *section) child(name string) int {
	script := c.cmd.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", script, script))
	for child := range strings.FieldsSeq(string(children)) {
		if comm, _ := os.ReadFile("/proc/" + child + "/comm"); string(comm) == name+"\n" {
			pid, _ := strconv.Atoi(child)
			return pid
		}
	}
	return 0
}

// leavesNothing checks that nothing of the section stays: processes, files, the lock.
func (c *section) leavesNothing(t *testing.T) {
	t.Helper()
	var left []string
	if !redistest.Until(patience, func() bool { left = carriers(c.mark()); return left == nil }) {
		t.Errorf("%s: these run on: %q", c.key, left)
	}
	if files, err := os.ReadDir(filepath.Join(c.dir, "tmp")); err != nil || len(files) != 0 {
		t.Errorf("%s: %v are left, %v", c.key, files, err)
	}
	if c.want.act != nil && !redistest.Until(patience, func() bool {
		reply, err := c.server.Do("EXISTS", "redlockrun:{"+c.key+"}")
		return err == nil && reply == int64(0)
	}) {
		t.Errorf("%s: the lock is left", c.key)
	}
}

// carriers are the command lines of the processes that have a variable.
func carriers(variable string) (lines []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		if text, _ := os.ReadFile(file); bytes.Contains(text, []byte(variable+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}

// reuse is PID 1 of a namespace. It kills the script in its section, and gives its number to a process that has
// nothing to do with it. Then ./deploy ends, and with it the lock.
const reuse = `mkfifo input
SECTION=here "$@" <input & script=$!
exec 3>input
until [ -e begun ]; do sleep 0.01; done
kill -9 $script; wait $script
for n in 1 2 3 4 5 6 7 8 9 10; do
    echo $((script - 1)) >/proc/sys/kernel/ns_last_pid
    sleep 1000 3>&- & stranger=$!
    [ $stranger != $script ] || break
done
[ $stranger = $script ] || { echo "the number was not given again"; exit 1; }
exec 3>&-
while grep -qs SECTION=here /proc/[0-9]*/environ; do sleep 0.01; done
kill -0 $stranger && echo "the stranger lives"
`

func TestASectionSignalsNoStranger(t *testing.T) {
	t.Parallel()
	ability.Need(t, ability.Namespaces)
	if os.Getuid() != 0 {
		t.Skip("only root chooses the next process's number")
	}
	for _, shell := range sectionShells {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.provide("build", "#!/bin/sh\n")
			s.provide("deploy", "#!/bin/sh\necho >begun\nexec cat\n")
			s.provide("script", block(t, shell.example))
			words := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", reuse, "reuse"}
			r := s.run(append(append(words, shell.argv...), "./script")...)
			if r.status != 0 || r.stdout != "the stranger lives\n" {
				t.Error(r)
			}
		})
	}
}
