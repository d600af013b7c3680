package redistest

import (
	"fmt"
	"strconv"
	"strings"
)

// isReplicaOf is nil when s follows master and has its data.
func isReplicaOf(s, master *Server) error {
	role, err := s.Do("ROLE")
	if err != nil {
		return err
	}
	list, _ := role.([]any)
	if len(list) < 4 || fmt.Sprint(list[0]) != "slave" ||
		fmt.Sprint(list[2]) != strconv.Itoa(master.port.number) || fmt.Sprint(list[3]) != "connected" {
		return fmt.Errorf("wait for replica %s of %s: its role is %v", s.Addr(), master.Addr(), role)
	}
	return nil
}

// hasReplicas is nil when n replicas are online at master.
func hasReplicas(master *Server, n int) error {
	info, err := master.Do("INFO", "replication")
	if err != nil {
		return err
	}
	if got := strings.Count(fmt.Sprint(info), "state=online"); got != n {
		return fmt.Errorf("wait for %d replicas of %s: %d are online", n, master.Addr(), got)
	}
	return nil
}

// Replicated returns when the server to has everything that from has written
// so far.
func Replicated(from, to *Server) error {
	want, err := offset(from, "master_repl_offset")
	if err != nil {
		return err
	}
	return Eventually(func() error {
		got, err := offset(to, "slave_repl_offset")
		if err == nil && got < want {
			err = fmt.Errorf("wait for replica %s: it is at %d of %d", to.Addr(), got, want)
		}
		return err
	})
}

func offset(s *Server, name string) (int64, error) {
	info, err := s.Do("INFO", "replication")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(fmt.Sprint(info), name+":")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseInt(number, 10, 64)
}
