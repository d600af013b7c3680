// Package redistest starts real redis-servers for tests, and ends them: one
// process each, on a free port of the loopback and on a Unix socket, without
// any state outside its own directory. A [Proxy] in front of one loses replies
// and holds back requests on command.
package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds each wait for a server: much more than a loaded machine needs.
const patience = 30 * time.Second

// Options say what kind of server is wanted. The zero value is a server
// without a password that keeps nothing on disk.
type Options struct {
	Args     []string // further configuration, each as on redis-server's command line: "--maxmemory", "10mb"
	Password string   // of the default user
	Users    []string // ACL rules as in users.acl without the word user: "alice on >pw ~* +@all"
	TLS      bool     // the port speaks TLS with a certificate of [Server.CA]
	Mutual   bool     // with TLS: clients must show a certificate of the same CA
	CA       *CA      // with TLS: nil makes one for this server
	Pair     Pair     // with TLS: what the server shows; zero is a certificate for its address and localhost
	Persist  bool     // keep every write on disk (appendonly, fsync always), so that Restart has the data
	On       *Host    // where the server runs and listens; nil is this machine's loopback
	Clock    *Clock   // the server's wall clock; nil is this machine's

	port     *port  // the server's from then on; nil is a free one
	sentinel string // of a Sentinel: its configuration file
	cluster  bool   // a node of a Cluster
}

// A Server is one redis-server process. Its methods may be used by several
// goroutines, save Kill, Restart and Close.
type Server struct {
	opts  Options
	dir   string // data and configuration
	sock  string // in a directory of its own, as a socket's path is short
	port  *port
	bus   *port // of a Cluster's own traffic; nil if there is none
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has been reaped
}

// Start starts a server that ends with the test. A machine without
// redis-server fails the test.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	return startFor(t, func(dir string) (*Server, error) { return New(dir, opts) })
}

// New starts a server that keeps its files in dir. Close ends it.
func New(dir string, opts Options) (*Server, error) {
	short, err := os.MkdirTemp("", "redis")
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, dir: dir, sock: filepath.Join(short, "s")}
	if err := s.certify(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(short))
	}
	for range 20 { // a port that was free a moment ago can be a stranger's now
		s.takePorts()
		if err = s.launch(); err == nil {
			return s, nil
		}
		s.releasePorts()
		if errors.Is(err, exec.ErrNotFound) || opts.port != nil {
			break
		}
	}
	return nil, errors.Join(err, os.RemoveAll(short))
}

// certify makes what is missing for TLS.
func (s *Server) certify() (err error) {
	if !s.opts.TLS {
		return nil
	}
	if s.opts.CA == nil {
		if s.opts.CA, err = NewCA(s.dir); err != nil {
			return err
		}
	}
	if s.opts.Pair == (Pair{}) {
		s.opts.Pair, err = s.opts.CA.Issue(filepath.Base(filepath.Dir(s.sock)), time.Now().Add(24*time.Hour),
			s.opts.On.IP(), "localhost")
	}
	return err
}

// takePorts are the server's until it is closed.
func (s *Server) takePorts() {
	switch {
	case s.opts.port != nil:
		s.port = s.opts.port
	case s.opts.cluster:
		s.port, s.bus = freePorts()
	default:
		s.port = freePort()
	}
}

func (s *Server) releasePorts() {
	s.port.release()
	s.bus.release()
}

func (s *Server) launch() error {
	path, err := program()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "redis.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = s.opts.On.Command(path, s.args()...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.dir, log, log
	if s.opts.Clock != nil {
		s.cmd.Env = append(s.cmd.Environ(), s.opts.Clock.env()...)
	}
	if err := startBound(s.cmd); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) { cmd.Wait(); close(ended) }(s.cmd, s.ended)
	if err := s.Wait(); err != nil {
		s.Kill()
		out, _ := os.ReadFile(log.Name())
		return fmt.Errorf("start redis-server: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) args() []string {
	port, tlsPort := strconv.Itoa(s.port.number), "0"
	if s.opts.TLS {
		port, tlsPort = tlsPort, port
	}
	args := []string{"--bind", s.opts.On.IP(), "--port", port, "--unixsocket", s.sock, "--dir", s.dir,
		"--save", "", "--daemonize", "no", "--appendonly", yesNo(s.opts.Persist), "--appendfsync", "always",
		"--repl-diskless-sync-delay", "0", "--protected-mode", yesNo(s.opts.On == nil)}
	if s.opts.sentinel != "" {
		args = append([]string{s.opts.sentinel, "--sentinel"}, args...)
	}
	if s.opts.cluster {
		args = append(args, "--cluster-enabled", "yes")
	}
	if s.opts.cluster && knows(clusterPort) {
		args = append(args, "--cluster-port", strconv.Itoa(s.bus.number))
	}
	if s.opts.Password != "" {
		args = append(args, "--requirepass", s.opts.Password)
	}
	if s.opts.TLS {
		args = append(args, "--tls-port", tlsPort, "--tls-ca-cert-file", s.opts.CA.File(),
			"--tls-cert-file", s.opts.Pair.Cert, "--tls-key-file", s.opts.Pair.Key,
			"--tls-auth-clients", yesNo(s.opts.Mutual), "--tls-replication", "yes", "--tls-cluster", "yes")
	}
	for _, u := range s.opts.Users {
		args = append(append(args, "--user"), Rules(strings.Fields(u))...)
	}
	return append(args, s.opts.Args...)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Wait returns when the server answers and has loaded its data.
func (s *Server) Wait() error {
	var err error
	Until(patience, func() bool { _, err = s.Do("PING"); return err == nil || !s.lives() })
	if err != nil && !s.lives() {
		err = errors.New("it ended")
	}
	if err != nil {
		return fmt.Errorf("wait for redis-server: %w", err)
	}
	return nil
}

// Addr is host:port.
func (s *Server) Addr() string { return net.JoinHostPort(s.opts.On.IP(), strconv.Itoa(s.port.number)) }

// Socket is the path of the Unix socket, on which the server listens too.
func (s *Server) Socket() string { return s.sock }

// URL is what --redis takes: redis:// or, with TLS, rediss://, with the default
// user's password if there is one.
func (s *Server) URL() string { return s.opts.url("redis", s.Addr()).String() }

// Dir is where the server keeps its data, and redis.log.
func (s *Server) Dir() string { return s.dir }

// CA, Cert and Key are PEM files of a server with TLS: its CA, and a
// certificate with its key that serves the server and a client alike.
func (s *Server) CA() string   { return s.opts.CA.File() }
func (s *Server) Cert() string { return s.opts.Pair.Cert }
func (s *Server) Key() string  { return s.opts.Pair.Key }

// Do sends one command as the default user, on a new connection to the Unix
// socket, and returns the reply: a string, an int64, a []any or nil. Only a
// server that hangs lets it take long. ACL rules that the server is too old for
// are left out.
func (s *Server) Do(words ...any) (any, error) {
	if words[0] == "ACL" {
		words = Rules(words)
	}
	c, err := net.Dial("unix", s.sock)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	var req []byte
	if s.opts.Password != "" {
		req = writeRequest(req, "AUTH", s.opts.Password)
	}
	if _, err := c.Write(writeRequest(req, words...)); err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	if s.opts.Password != "" {
		if _, err := readReply(in); err != nil {
			return nil, err
		}
	}
	return readReply(in)
}

// PID is the process's id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Signal sends sig: SIGSTOP makes the server hang, SIGCONT ends that.
func (s *Server) Signal(sig syscall.Signal) error { return s.cmd.Process.Signal(sig) }

// Kill ends the process by SIGKILL and reaps it. Its port stays the server's until Close.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// lives reports whether the process has not been reaped.
func (s *Server) lives() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// Restart kills the server and starts it again on the same port, with the data
// that it had on disk (see Options.Persist), or with none.
func (s *Server) Restart(withData bool) error {
	s.Kill()
	if !withData {
		for _, name := range []string{"appendonlydir", "appendonly.aof", "dump.rdb"} {
			if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
				return err
			}
		}
	}
	return s.launch()
}

// Close kills the server, removes its socket and gives up its port.
func (s *Server) Close() {
	s.Kill()
	s.releasePorts()
	os.RemoveAll(filepath.Dir(s.sock))
}
