// Package ability says what tests need of the machine that they run on, beside the
// programs that can be installed: a container without privileges or a chroot lacks some of it.
//
// scripts/test.sh tries each ability for real, tells what is lacking, and
// passes that on in [Variable]. A test that needs what is lacking is then left out. On a
// machine of which nothing was said nothing is left out: there such a test fails.
package ability

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Variable is the variable of the environment with the names of what is lacking.
const Variable = "TESTS_WITHOUT"

// An Ability is one thing that tests need.
type Ability struct {
	Name string
	What string // it is, and what is tested by it
	try  func() error
}

// The abilities.
var (
	Terminal = Ability{"terminal", "a pseudo-terminal (/dev/ptmx, /dev/pts): what a person at a terminal sees, " +
		"Ctrl-C, Ctrl-Z", tryTerminal}
	Namespaces = Ability{"namespaces",
		"a PID namespace with a /proc of its own (unshare, mount, nsenter): the duties of PID 1, being entered from " +
			"outside", tryNamespaces}
	Networks = Ability{"networks", "network namespaces with a cable between (unshare, ip, nsenter): a network that " +
		"is cut", tryNetworks}
	Users = Ability{"users", "other users, and programs that change theirs (root, set-user-id): limits, a command " +
		"out of reach", tryUsers}
	Leases = Ability{"leases", "leases on files (fcntl F_SETLEASE): a command's file that comes late", tryLeases}
)

// All are the abilities in the order in which they are told.
func All() []Ability { return []Ability{Terminal, Namespaces, Networks, Users, Leases} }

// Try finds out whether this machine has the ability; the error says why not.
func (a Ability) Try() error { return a.try() }

// Slow leaves the test out of `make quick`, which is go test -short: it takes more than
// some seconds, waiting or working, and what it tests seldom breaks while one works on
// something else. `make test` runs all of them. A script of testdata/script, a test in
// virtual time and a test without a server are never slow.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make test: it takes long")
	}
}

// Need leaves the test out if a is known to be lacking.
func Need(t testing.TB, a Ability) {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv(Variable)), a.Name) {
		t.Skip("left out, as said before the tests: this machine lacks " + a.What)
	}
}
