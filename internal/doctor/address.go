package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"syscall"
	"time"

	"redlockrun/internal/lock"
)

// certificateWarning is how long before its end a certificate should have been renewed.
const certificateWarning = 14 * 24 * time.Hour

// checkAddress checks the name, the connection and the certificate.
func checkAddress(ctx context.Context, v *visit) []Finding {
	ctx, cancel := context.WithTimeout(ctx, v.Limit)
	defer cancel()
	from, certificate, err := v.Reach(ctx)
	switch {
	case err == nil:
	case isOfTLS(err):
		return []Finding{v.is("tls", Fail, "%s", v.Say(err)).to("%s", tlsRemedy(err))}
	default:
		return []Finding{v.is("address", Fail, "%s", v.Say(err)).to("%s", addressRemedy(err))}
	}
	found := []Finding{v.is("address", Ok, "%s", answersAt(v.Address(), from))}
	if certificate != nil {
		found = append(found, v.checkCertificate(certificate.NotAfter, time.Now()))
	}
	return found
}

// answersAt names the address that a name stands for.
func answersAt(name string, from net.Addr) string {
	if from == nil || from.String() == name || from.Network() == "unix" {
		return "it can be reached"
	}
	return "it can be reached as " + from.String()
}

func (v *visit) checkCertificate(end, now time.Time) Finding {
	days := int(math.Floor(end.Sub(now).Hours() / 24))
	date := lock.LocalTime(end)
	if end.Sub(now) < certificateWarning {
		return v.is("tls", Warn, "the server's certificate expires in %d days, at %s: after that no job runs (69)",
			days, date).
			to("renew the server's certificate")
	}
	return v.is("tls", Ok, "the server's certificate expires in %d days, at %s", days, date)
}

// isOfTLS reports whether a connection was made, and its TLS handshake failed.
func isOfTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op != "dial"
	}
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.Is(err, io.EOF) ||
		errors.Is(err, context.DeadlineExceeded) // a server without TLS waits for the rest of a line
}

func tlsRemedy(err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "--redis-ca FILE names a private CA"
	case errors.As(err, new(x509.HostnameError)):
		return "give the server a certificate for the name that is in the URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the server's certificate, or set this host's clock right"
	case errors.As(err, new(tls.RecordHeaderError)), errors.Is(err, io.EOF), errors.Is(err, context.DeadlineExceeded):
		return "check that the port uses TLS; redis:// instead of rediss:// does without TLS"
	}
	return "the server may need a client certificate: --redis-cert FILE, --redis-key FILE"
}

func addressRemedy(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "check the host name and the resolver"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return "check the address, and that Redis is running"
	case errors.Is(err, os.ErrPermission):
		return "check the permissions of the socket"
	}
	return "check that Redis answers, and that no firewall drops packets"
}
