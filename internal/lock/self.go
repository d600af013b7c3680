package lock

import (
	"os"
	"os/user"
	"strconv"
)

// HostName returns the name of this host, or "unknown" if the kernel does not tell it.
func HostName() string {
	if host, err := os.Hostname(); err == nil {
		return host
	}
	return "unknown"
}

// UserName returns the name of the user of this process, or the user id if it has no name.
func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
