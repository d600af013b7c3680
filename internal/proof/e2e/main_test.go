//go:build linux

// Package e2e runs redlockrun as its users do: by README.md and the pages that it links
// to, and, with the build tag e2e, by a real cron, by systemd's own check of the
// unit files, and by the demonstration.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

// patience bounds each run: much more than a loaded machine needs.
const patience = time.Minute

// bin is the directory of the redlockrun that is tested.
var bin string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redlockrun-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-o", dir, "redlockrun/cmd/redlockrun")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build redlockrun: %v\n%s", err, out)
		return 1
	}
	bin = dir
	return m.Run()
}

// A site is a directory of stand-ins for a user's programs, and an environment
// in which redlockrun is found and Redis is where REDLOCKRUN_REDIS says.
type site struct {
	t      *testing.T
	dir    string
	server *redistest.Server
	env    []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), server: redistest.Start(t, redistest.Options{})}
	s.env = []string{
		"PATH=" + s.dir + ":" + bin + ":" + os.Getenv("PATH"), "HOME=" + s.dir,
		"REDLOCKRUN_CONFIG=/dev/null", "REDLOCKRUN_REDIS=" + s.server.URL(),
	}
	return s
}

// provide puts a shell script into the directory.
func (s *site) provide(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// A run is what came of a command.
type run struct {
	status         int
	stdout, stderr string
}

func (r run) String() string {
	return fmt.Sprintf("status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
}

// run runs argv in the site's directory and environment.
func (s *site) run(argv ...string) run {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.finish(s.command(ctx, argv...))
}

func (s *site) command(ctx context.Context, argv ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if path, err := exec.LookPath(argv[0]); err == nil {
		cmd.Path = path
	}
	if argv[0] == "redlockrun" {
		cmd.Path = filepath.Join(bin, "redlockrun")
	}
	cmd.Err = nil
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

func (s *site) finish(cmd *exec.Cmd) run {
	s.t.Helper()
	return s.begin(cmd)()
}

// begin starts a command; ended waits for its end.
func (s *site) begin(cmd *exec.Cmd) (ended func() run) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return func() run {
		s.t.Helper()
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
		return run{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
}

// until waits until the server answers 1.
func (s *site) until(command ...any) {
	s.t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		if reply, err := s.server.Do(command...); err == nil && reply == int64(1) {
			return
		}
	}
	s.t.Fatalf("%v was never 1", command)
}

// forget lets the site be as if nothing had been run.
func (s *site) forget() {
	s.t.Helper()
	if _, err := s.server.Do("FLUSHALL"); err != nil {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "ran")); err != nil {
		s.t.Fatal(err)
	}
}

// ran is what the stand-ins have written into the file of that name.
func (s *site) ran() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "ran"))
	return string(text)
}

// want compares what came of several commands.
func want(t *testing.T, got []run, wanted ...run) {
	t.Helper()
	for i, w := range wanted {
		if got[i] != w {
			t.Errorf("run %d: %v, want %v", i+1, got[i], w)
		}
	}
}

// hold keeps the lock until the test ends or release is called.
func (s *site) hold(key string) (release func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := s.command(ctx, "redlockrun", "--key", key, "--", "sh", "-c", "echo; exec cat")
	input, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 1)); err != nil {
		s.t.Fatalf("hold %s: %v", key, err)
	}
	ended := false
	release = func() {
		if !ended {
			ended = true
			input.Close()
			cmd.Wait()
			cancel()
		}
	}
	s.t.Cleanup(release)
	return release
}
