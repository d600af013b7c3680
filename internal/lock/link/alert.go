package link

import (
	"crypto/tls"
	"errors"
	"net"
)

// refusingAlerts are the alerts (RFC 8446, section 6.2) by which a server says that it
// does not want us, or nothing that we speak. The others may be otherwise at another time.
var refusingAlerts = [...]tls.AlertError{
	40,  // handshake_failure: before TLS 1.3, of a client without a certificate too
	42,  // bad_certificate
	43,  // unsupported_certificate
	44,  // certificate_revoked
	45,  // certificate_expired
	46,  // certificate_unknown
	48,  // unknown_ca
	49,  // access_denied
	51,  // decrypt_error: of a certificate, too, whose CA has the name of the right one
	70,  // protocol_version
	71,  // insufficient_security
	112, // unrecognized_name
	116, // certificate_required
	120, // no_application_protocol
}

// turnedAway reports whether err is an alert by which the server refuses us. With TLS 1.3
// what it says of our certificate comes with the first answer, not with the handshake.
//
// On TCP crypto/tls does not export the type of an alert that has come, but has the texts of
// those of AlertError for it: it is told by comparing what the package itself says of both.
func turnedAway(err error) bool {
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return false
	}
	said := remote.Err.Error()
	for _, alert := range refusingAlerts {
		if said == alert.Error() {
			return true
		}
	}
	return false
}
