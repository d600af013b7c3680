package server_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
	"redlockrun/internal/proof/simulation/server"
)

// A pair is a real server and the model of it. Both have the same clock, which stands still but for pass.
type pair struct {
	t     *testing.T
	real  *redistest.Server
	model *server.Server
	clock *redistest.Clock
	now   time.Time
	conns []*twin
	exact bool // errors are worded as in the model's version
	log   []string
}

// A twin is a connection to each of the two.
type twin struct {
	of     *pair
	real   net.Conn
	in     *bufio.Reader
	model  *server.Conn
	pushed []string // by the model
	heard  bool     // it has subscribed
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, clock: redistest.NewClock(t), now: time.UnixMicro(1_800_000_000_123_456)}
	p.real = redistest.Start(t, redistest.Options{Clock: p.clock})
	p.pass(0)
	info, err := p.real.Do("INFO", "server")
	locktest.Must(t, err)
	p.exact = strings.Contains(info.(string), "redis_version:7.0.")
	up := upFor(info.(string))
	p.model = server.New(func() time.Time { return p.now.Add(-up) })
	up = 0
	for range 3 {
		p.connect()
	}
	return p
}

// upFor is for how long a server is up, as it says.
func upFor(info string) time.Duration {
	_, rest, _ := strings.Cut(info, "uptime_in_seconds:")
	seconds, _ := strconv.Atoi(strings.Fields(rest)[0])
	return time.Duration(seconds) * time.Second
}

func (p *pair) connect() {
	conn, err := net.Dial("unix", p.real.Socket())
	locktest.Must(p.t, err)
	p.t.Cleanup(func() { conn.Close() })
	tw := &twin{of: p, real: conn, in: bufio.NewReader(conn)}
	tw.model = p.model.Connect(func(b []byte) { tw.pushed = append(tw.pushed, string(b)) })
	p.conns = append(p.conns, tw)
}

func (p *pair) pass(d time.Duration) {
	p.now = p.now.Add(d)
	locktest.Must(p.t, p.clock.Stop(p.now))
}

// begin forgets everything: what follows depends on nothing before.
func (p *pair) begin() {
	p.log = nil
	for _, tw := range p.conns {
		if tw.heard {
			tw.close()
		}
	}
	p.conns[0].ask("CONFIG", "SET", "maxmemory", "0")
	p.model.Fill(false)
	p.conns[0].same("FLUSHALL")
	p.conns[0].same("SCRIPT", "FLUSH")
}

// close replaces the connection by a new one.
func (tw *twin) close() {
	tw.real.Close()
	tw.model.Close()
	*tw = twin{of: tw.of}
	conn, err := net.Dial("unix", tw.of.real.Socket())
	locktest.Must(tw.of.t, err)
	tw.of.t.Cleanup(func() { conn.Close() })
	tw.real, tw.in = conn, bufio.NewReader(conn)
	tw.model = tw.of.model.Connect(func(b []byte) { tw.pushed = append(tw.pushed, string(b)) })
	locktest.Until(tw.of.t, "the real server has noticed", func() bool {
		return slices.Equal(tw.of.listening(), tw.of.listeningModel())
	})
}

// ask is the reply of the real server.
func (tw *twin) ask(words ...string) string {
	tw.real.SetDeadline(time.Now().Add(locktest.Patience))
	_, err := tw.real.Write(request(words))
	locktest.Must(tw.of.t, err)
	return tw.read()
}

func (tw *twin) read() string {
	said, err := readReply(tw.in)
	if err != nil {
		tw.of.t.Fatalf("%s\n%s", strings.Join(tw.of.log, "\n"), err)
	}
	return said
}

func request(words []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, word := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b
}

// readReply is one reply, as it is sent.
func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch {
	case line[0] == '$' && n >= 0:
		body := make([]byte, n+2)
		_, err = io.ReadFull(in, body)
		return line + string(body), err
	case line[0] == '*':
		for range n {
			part, err := readReply(in)
			if err != nil {
				return "", err
			}
			line += part
		}
	}
	return line, nil
}

// same asks both, and ends the test if they answer differently.
func (tw *twin) same(words ...string) {
	p := tw.of
	p.log = append(p.log, brief(words))
	real, model := tw.ask(words...), string(tw.model.Feed(request(words)))
	if a, b := p.plain(words, real), p.plain(words, model); a != b {
		p.t.Fatalf("%s\nat %s to\n%q\nRedis answers %q,\nthe model     %q",
			strings.Join(p.log, "\n"), p.now, words, a, b)
	}
}

// brief is a request without most of a script.
func brief(words []string) string {
	words = slices.Clone(words)
	if len(words) > 1 && len(words[1]) > 300 {
		words[1] = "..." + words[1][len(words[1])-40:]
	}
	return fmt.Sprintf("%.2000q", words)
}

var (
	runtimeError = regexp.MustCompile(`^(-ERR user_script:\d+:).*\r\n$`)
	compileError = regexp.MustCompile(`^(-ERR Error compiling script).*\r\n$`)
	itsRunID     = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
)

// plain is a reply without that in which no two servers are alike, and, where Redis keeps no order, sorted.
func (p *pair) plain(words []string, reply string) string {
	if strings.HasPrefix(reply, "-") && !p.exact {
		return strings.Fields(reply)[0]
	}
	reply = runtimeError.ReplaceAllString(reply, "$1")
	reply = compileError.ReplaceAllString(reply, "$1")
	if strings.HasPrefix(reply, "*") {
		reply = itsRunID.ReplaceAllString(reply, "RUNID")
	}
	if !unordered(words) {
		return reply
	}
	lines := strings.SplitAfter(reply, "\r\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func unordered(words []string) bool {
	switch strings.ToLower(words[0]) {
	case "hgetall", "hkeys", "keys", "scan", "zscan":
		return true
	case "eval":
		return strings.Contains(words[1], "'HGETALL', key") || strings.Contains(words[1], "'SCAN'") ||
			strings.Contains(words[1], "'ZSCAN'")
	}
	return false
}

// listening are the subscriptions of each channel that the real server has.
func (p *pair) listening() (all []string) {
	for _, channel := range channels {
		all = append(all, p.conns[0].ask("PUBSUB", "NUMSUB", channel))
	}
	return all
}

func (p *pair) listeningModel() (all []string) {
	for _, channel := range channels {
		all = append(all, string(p.conns[0].model.Feed(request([]string{"PUBSUB", "NUMSUB", channel}))))
	}
	return all
}

// settle compares all that was pushed, and all that is kept.
func (p *pair) settle() {
	for _, tw := range p.conns {
		if tw.heard {
			tw.compareMessages()
		}
	}
	asks := p.conns[0]
	asks.same("KEYS", "*")
	for _, key := range keys() {
		asks.same("TYPE", key)
		asks.same("PTTL", key)
		asks.same("GET", key)
		asks.same("HGETALL", key)
		asks.same("LRANGE", key, "0", "-1")
		asks.same("ZRANGE", key, "0", "-1", "WITHSCORES")
	}
}

func (tw *twin) compareMessages() {
	locktest.Must(tw.of.t, tw.real.SetDeadline(time.Now().Add(locktest.Patience)))
	_, err := tw.real.Write(request([]string{"PING", "enough"}))
	locktest.Must(tw.of.t, err)
	var heard []string
	for {
		m := tw.read()
		if strings.HasPrefix(m, "*2\r\n$4\r\npong") {
			break
		}
		heard = append(heard, m)
	}
	if !slices.Equal(heard, tw.pushed) {
		tw.of.t.Fatalf("%s\nRedis pushes %q,\nthe model    %q", strings.Join(tw.of.log, "\n"), heard, tw.pushed)
	}
	tw.pushed = nil
}

// asked is how many requests are compared, and what they are drawn from: MODEL_STEPS of them, by a seed that a failing
// test names; or a few, always the same.
func asked(t *testing.T) (steps int, draw func(int) int) {
	text := os.Getenv("MODEL_STEPS")
	if text == "" {
		return 2500, rand.New(rand.NewPCG(19, 0)).IntN
	}
	steps, err := strconv.Atoi(text)
	locktest.Must(t, err)
	return steps, locktest.Draw(t)
}

func TestTheModelAnswersAsRedisDoes(t *testing.T) {
	steps, draw := asked(t)
	r := &random{draw: draw, steps: recorded(t)}
	p := newPair(t)
	for range steps / 100 {
		p.begin()
		for range 100 {
			p.random(r)
		}
		p.settle()
	}
}
