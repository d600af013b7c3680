package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A CA signs certificates for servers and clients of a test.
type CA struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey // of each certificate: Redis before 7 exchanges one without its key only
}

// A Pair is the paths of two PEM files: a certificate and its key.
type Pair struct{ Cert, Key string }

// NewCA makes a certificate authority that keeps its files in dir.
func NewCA(dir string) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &CA{dir: dir, key: key, leaf: leaf, cert: template("redistest CA", time.Now().Add(24*time.Hour))}
	ca.cert.IsCA, ca.cert.BasicConstraintsValid, ca.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	return ca, sign(ca.File(), ca.cert, ca.cert, key, key)
}

// File is the PEM file of the CA's own certificate.
func (ca *CA) File() string { return filepath.Join(ca.dir, "ca.pem") }

// Issue makes a certificate that serves a server and a client alike until
// notAfter, for hosts, each a name or an address. Its files are called after
// name.
func (ca *CA) Issue(name string, notAfter time.Time, hosts ...string) (Pair, error) {
	p := Pair{filepath.Join(ca.dir, name+".pem"), filepath.Join(ca.dir, name+"-key.pem")}
	leaf := template(name, notAfter)
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if err := sign(p.Cert, leaf, ca.cert, ca.leaf, ca.key); err != nil {
		return p, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(ca.leaf)
	if err != nil {
		return p, err
	}
	return p, writePEM(p.Key, "PRIVATE KEY", der)
}

func template(name string, notAfter time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-48 * time.Hour),
		NotAfter:     notAfter,
	}
}

func sign(path string, cert, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	if err != nil {
		return err
	}
	return writePEM(path, "CERTIFICATE", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
