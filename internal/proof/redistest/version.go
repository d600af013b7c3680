package redistest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// program is the redis-server that is started: REDISTEST_SERVER, else the one in PATH.
func program() (string, error) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("REDISTEST_SERVER"), "redis-server"))
	if err != nil {
		return "", fmt.Errorf("start redis-server: %w (`make test` installs it)", err)
	}
	return path, nil
}

// A version is of Redis, or of a Valkey that keeps to Redis's settings of 7.2.
type version struct{ major, minor int }

func (v version) before(w version) bool {
	return cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor)) < 0
}

// present is the version of the program. What it does not know the servers are
// started without.
var present = sync.OnceValue(func() (v version) {
	path, err := program()
	if err != nil {
		return v // no server is started
	}
	out, err := exec.Command(path, "--version").Output()
	_, number, ok := strings.Cut(string(out), " v=")
	if n, _ := fmt.Sscanf(number, "%d.%d", &v.major, &v.minor); err != nil || !ok || n != 2 {
		panic(fmt.Sprintf("%s --version: %v: %q", path, err, out))
	}
	return v
})

var (
	channelRights = version{6, 2} // ACL rules for channels
	sentinelPass  = version{6, 2} // sentinels whose own password is not their fellows'
	clusterPort   = version{7, 0} // a port of a node's own choice for the Cluster's traffic
	slotsRange    = version{7, 0} // CLUSTER ADDSLOTSRANGE
)

func knows(since version) bool { return !present().before(since) }

// Rules are ACL rules without those that the server does not know: before 6.2
// there were no rights for channels.
func Rules[T any](words []T) []T {
	if knows(channelRights) {
		return words
	}
	return slices.DeleteFunc(slices.Clone(words), func(w T) bool {
		word := fmt.Sprint(w)
		return strings.HasPrefix(word, "&") || word == "resetchannels" || word == "allchannels"
	})
}
