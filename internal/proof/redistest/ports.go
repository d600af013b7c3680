package redistest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// firstPort is the first of the ports that servers get, and endPort the one behind
// the last: below the range that the kernel gives to clients.
const (
	firstPort = 10000
	endPort   = 32000
)

// A port is one of the loopback's that a server has for as long as this is not
// released, whether the server runs or not. Other test processes draw theirs from
// the same range at the same time; all ask for the UDP port of the same number
// first, and keep it. So a server that is down for a moment finds its port free.
type port struct {
	number int
	kept   net.PacketConn
}

// reserve is a port of which nobody has a use.
func reserve(number int) (*port, error) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
	kept, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	return &port{number, kept}, l.Close()
}

// release gives the port to whoever wants it. Released twice is released once.
func (p *port) release() {
	if p != nil {
		p.kept.Close()
	}
}

// freePort reserves any port.
func freePort() *port { return freeBelow(endPort) }

func freeBelow(end int) *port {
	for {
		if p, err := reserve(firstPort + rand.IntN(end-firstPort)); err == nil {
			return p
		}
	}
}

// freePorts reserves a port, and one for a node's traffic with its fellows, which old
// servers have at a fixed distance.
func freePorts() (own, bus *port) {
	if knows(clusterPort) {
		return freePort(), freePort()
	}
	const distance = 10000
	for {
		own = freeBelow(endPort - distance)
		bus, err := reserve(own.number + distance)
		if err == nil {
			return own, bus
		}
		own.release()
	}
}
