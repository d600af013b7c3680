//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"
)

// fullest is what is seen when as many have connected as may.
type fullest struct {
	Connections int     `json:"connections"`
	Status      int     `json:"status"` // of a run that comes then
	Words       string  `json:"words"`
	Waited      float64 `json:"waited_s"`
	LostByThen  int     `json:"lost_by_then"` // of those who held and stayed connected
	Cut         int     `json:"cut"`          // holders whose connection was cut then
	CutLost     int     `json:"cut_lost"`     // those of them who lost their lock for it
	Failed      int     `json:"failed"`
}

// full is a server as it is installed, to which ever more connect.
func full(s *scale) error {
	r, err := s.rig()
	if err != nil {
		return err
	}
	defer r.close()
	holders := 9000 / s.divisor
	each := order{Do: "hold", Count: holders / 2, TTL: minute}
	second := each
	second.First = each.Count
	if _, err := r.all(each, second); err != nil {
		return err
	}
	admin, err := newSocket(r.servers[0].Addr())
	if err != nil {
		return err
	}
	defer admin.conn.Close()
	crowd := &crowd{at: r.servers[0].Addr(), stop: make(chan struct{}), over: make(chan struct{})}
	defer crowd.leave()
	if err := crowd.fill(); err != nil {
		return err
	}
	f := fullest{Connections: len(crowd.in) + holders + 1}
	f.late(r)
	time.Sleep(r.rest)
	a, err := r.tell()
	if err != nil {
		return err
	}
	f.LostByThen = a.Lost
	if err := f.cut(admin); err != nil {
		return err
	}
	time.Sleep(minute + 5*time.Second)
	if a, err = r.tell(); err != nil {
		return err
	}
	f.CutLost, f.Failed = a.Lost-f.LostByThen, a.Failed
	fmt.Printf("%+v\n", f)
	s.figures.Full = f
	return nil
}

// late runs one that comes too late.
func (f *fullest) late(r *rig) {
	start := time.Now()
	cmd := exec.Command(r.program, "--key", "late", "--redis", r.url, "--", "true")
	out, _ := cmd.CombinedOutput()
	f.Status, f.Waited = cmd.ProcessState.ExitCode(), time.Since(start).Seconds()
	f.Words = strings.ReplaceAll(string(out), r.servers[0].Addr(), "127.0.0.1:6379")
}

// cut ends the connections of some who hold, over one that is there. The crowd takes their places.
func (f *fullest) cut(admin *socket) error {
	clients, err := admin.do("CLIENT LIST TYPE normal")
	if err != nil {
		return err
	}
	for line := range strings.Lines(clients) {
		if f.Cut < mostCut && strings.Contains(line, " cmd=eval ") {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			if _, err := admin.do("CLIENT KILL ID " + id); err != nil {
				return err
			}
			f.Cut++
		}
	}
	return nil
}

// mostCut is how many connections are cut.
const mostCut = 100

// A socket is a connection that was there before the crowd.
type socket struct {
	conn net.Conn
	in   *bufio.Reader
}

func newSocket(at string) (*socket, error) {
	conn, err := net.Dial("tcp", at)
	if err != nil {
		return nil, err
	}
	return &socket{conn, bufio.NewReader(conn)}, nil
}

// do sends a command, and returns the text or the number that is the answer.
func (w *socket) do(words string) (string, error) {
	w.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := fmt.Fprint(w.conn, words+"\r\n"); err != nil {
		return "", err
	}
	first, err := w.in.ReadString('\n')
	if err != nil || first[0] != '$' {
		return first, err
	}
	var n int
	fmt.Sscan(first[1:], &n)
	text := make([]byte, n+2)
	_, err = io.ReadFull(w.in, text)
	return string(text), err
}

// A crowd connects and does nothing.
type crowd struct {
	at   string
	in   []net.Conn
	stop chan struct{}
	over chan struct{}
}

// fill connects until that is refused, and then again and again.
func (c *crowd) fill() error {
	for c.join() {
	}
	if len(c.in) == 0 {
		close(c.over)
		return fmt.Errorf("connect to %s: refused", c.at)
	}
	go func() {
		defer close(c.over)
		for {
			select {
			case <-c.stop:
				return
			case <-time.After(time.Millisecond):
				c.join()
			}
		}
	}()
	return nil
}

// join reports whether one more was let in.
func (c *crowd) join() bool {
	conn, err := net.Dial("tcp", c.at)
	if err != nil {
		return false
	}
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(conn, "PING\r\n")
	answer := make([]byte, 5)
	if _, err := conn.Read(answer); err != nil || string(answer) != "+PONG" {
		conn.Close()
		return false
	}
	c.in = append(c.in, conn)
	return true
}

func (c *crowd) leave() {
	close(c.stop)
	<-c.over
	for _, conn := range c.in {
		conn.Close()
	}
}
