package link

import (
	"crypto/tls"
	"crypto/x509"
	"net"
)

// leaf is the certificate that the other side of a connection has shown; nil without TLS.
func leaf(conn net.Conn) *x509.Certificate {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return nil
	}
	chain := secure.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return nil
	}
	return chain[0]
}
