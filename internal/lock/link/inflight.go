package link

import (
	"sync"
	"time"
)

// inFlight holds back the connections on which a request is still in flight: an acquire that
// got no answer. If the acquiring is given up, a release goes after the acquire on the same
// connection: nothing can come between the two, and no answer is needed.
type inFlight struct {
	mu    sync.Mutex
	off   bool
	conns []*trackedConn
}

// mostInFlight bounds the descriptors that a long outage costs.
const mostInFlight = 4

func (l *inFlight) keep(c *trackedConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return false
	}
	l.conns = append(l.conns, c)
	if len(l.conns) > mostInFlight {
		l.conns[0].raw.Close()
		l.conns = l.conns[1:]
	}
	return true
}

// close closes the connections after a last request on each, if there is one.
func (l *inFlight) close(last []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
	for _, c := range l.conns {
		if last != nil {
			c.Conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
			c.Conn.Write(last)
		}
		c.raw.Close()
	}
	l.conns = nil
}
