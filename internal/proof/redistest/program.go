package redistest

import "os/exec"

// OpenNetwork is [NewNetwork] for a program that is no test. Close ends it.
func OpenNetwork() (*Network, error) {
	n := makeNetwork()
	if err := n.open(); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// Close ends the two hosts. What runs there keeps its namespace, and reaches nobody.
func (n *Network) Close() { n.close() }

// OpenClock is [NewClock] for a program that is no test. Its file is in dir. Close ends it.
func OpenClock(dir string) (*Clock, error) { return makeClock(dir) }

// Close ends the clock, when no server goes by it any more.
func (c *Clock) Close() { c.file.Close() }

// StartBound starts a process, in a process group of its own, that dies with this one.
func StartBound(cmd *exec.Cmd) error { return startBound(cmd) }
