package explain

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/quorum"
)

func explainUnavailable(e *lock.UnavailableError, c About) Explanation {
	if c.Config.Address.Local {
		message := fmt.Sprintf("cannot lock a file in %s (%s): %v", e.Address, c.Config.Address.FromSource(), e.Err)
		return Failure(StatusUnavailable, message, "check the permissions of the directory and its free space")
	}
	message := fmt.Sprintf("cannot ask Redis at %s (%s): %v", e.Address, c.Config.Address.FromSource(), e.Err)
	return Failure(StatusUnavailable, message, cmp.Or(commandHint(e, c), check(e)))
}

// commandHint returns "" unless the command for the password failed.
func commandHint(err error, c About) string {
	if !errors.As(err, new(*lock.PasswordError)) {
		return ""
	}
	return "run " + cmp.Or(c.Config.Source("redis-password-command"), "--redis-password-command") +
		" by hand with /bin/sh as the same user: it must print one line within 5s"
}

// check says what to check when a store did not answer.
func check(e *lock.UnavailableError) string {
	var dns *net.DNSError
	var remote *net.OpError
	if hint := refusalHint(e); hint != "" {
		return hint
	}
	switch {
	case e.Denied:
		return "check the user, the password and the user's rights; README: the minimal ACL"
	case errors.Is(e, lock.ErrFewReplicas):
		return "check the replicas with redis-cli info replication; " +
			"--replicas-timeout D waits longer, --replicas N wants fewer"
	case errors.Is(e, lock.ErrNoSuchMaster):
		return "check the name of the master at the end of the URL: redis-cli -p 26379 sentinel masters lists them"
	case errors.Is(e, quorum.ErrRestarted):
		return "a restarted server votes again after max(ttl, 60s); " +
			"use --durable if its data survive a restart (appendfsync always)"
	case errors.As(e, &dns):
		return "check the host name and the resolver"
	case errors.As(e, new(x509.UnknownAuthorityError)):
		return "check the certificate; --redis-ca FILE names a private CA"
	case errors.As(e, new(x509.HostnameError)):
		return "check the server's certificate; --redis-server-name HOST sets the name that it must have"
	case errors.As(e, new(x509.CertificateInvalidError)):
		return "check the server's certificate"
	case errors.As(e, &remote) && remote.Op == "remote error":
		return "the server refuses this client: see its log; " +
			"--redis-cert and --redis-key set a client certificate"
	case errors.Is(e, syscall.ECONNREFUSED), errors.Is(e, os.ErrNotExist):
		return "check the address, and that Redis is running"
	case errors.Is(e, os.ErrPermission):
		return "check the permissions of the socket"
	case errors.Is(e, context.DeadlineExceeded), errors.Is(e, os.ErrDeadlineExceeded):
		return "check that Redis answers and no firewall drops packets, or wait longer with --redis-timeout D"
	}
	return "check the address, and that the server is Redis"
}
