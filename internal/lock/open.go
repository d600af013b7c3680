package lock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// OpenConfig says where locks are kept in Redis.
type OpenConfig struct {
	// URLs are redis://, rediss:// or unix:// URLs, or file:PATH for a file that
	// holds one and is read again for each new connection. More than one is a quorum.
	URLs []string

	// Prefix is before each key; DefaultPrefix unless the user wants another.
	Prefix string

	// CA is a PEM file with the only authorities that servers are trusted by; empty
	// means the system's. Cert and Key are the PEM files of a client certificate.
	// They are read again for each new connection.
	CA, Cert, Key string

	// Durable says that the servers of a quorum keep their data when they are
	// restarted. Otherwise one that has been up for less than a minute, or the ttl,
	// does not vote.
	Durable bool

	// PasswordFile and SentinelPasswordFile are files that hold the password of the
	// server and of its sentinels, for URLs that name none. They are read again for
	// each new connection, hence whenever a server has refused one. The end of the
	// line is no part of a password.
	PasswordFile, SentinelPasswordFile string

	// Replicas is how many replicas must have acknowledged an acquire before it
	// counts, and ReplicasTimeout how long they are waited for; 0 is
	// DefaultReplicasTimeout. Fewer: the lock is given back, and Acquire returns an
	// *UnavailableError. Not with a quorum.
	Replicas        int
	ReplicasTimeout time.Duration

	dial    dialer        // nil, but in tests: net.Dialer's
	settled time.Duration // 0, but in tests: a minute
}

// DefaultReplicasTimeout is OpenConfig.ReplicasTimeout if that is not said.
const DefaultReplicasTimeout = time.Second

// Open returns the store that cfg describes. It asks nobody: a server that is
// down is found by Acquire. Its error is a *ConfigError.
func Open(cfg OpenConfig) (Store, error) {
	if strings.ContainsAny(cfg.Prefix, "{}") {
		return nil, &ConfigError{Subject: "the prefix", Problem: "it has a brace in it"}
	}
	if cfg.Replicas < 0 || cfg.Replicas > 0 && len(cfg.URLs) > 1 {
		return nil, &ConfigError{Subject: "the number of replicas", Problem: "a quorum's masters have none"}
	}
	switch len(cfg.URLs) {
	case 0:
		return nil, &ConfigError{Subject: subjectURL, Problem: "there must be one"}
	case 1:
	default:
		return openQuorum(cfg)
	}
	src := &source{cfg: cfg, raw: cfg.URLs[0]}
	if err := src.load(); err != nil {
		return nil, err
	}
	redis.SetLogger(silence{})
	return newRedisStore(src, cfg.Prefix), nil
}

// silence keeps go-redis from writing to stderr.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// A source knows what a URL, and the files that it leans on, said last.
type source struct {
	cfg  OpenConfig
	raw  string
	addr address
	tls  *tls.Config // nil: no TLS

	company company // of a holder in a Cluster
}

// load reads the URL and the files again. After an error the source is as before.
func (s *source) load() error {
	addr, err := readURL(s.raw)
	if err != nil {
		return err
	}
	if err := addr.addPasswords(s.cfg); err != nil {
		return err
	}
	if !addr.tls {
		if s.cfg.CA != "" || s.cfg.Cert != "" || s.cfg.Key != "" {
			return badURL("it is not one for TLS, but certificates are given", "write rediss:// in place of redis://")
		}
		s.addr, s.tls = addr, nil
		return nil
	}
	conf, err := loadTLS(s.cfg)
	if err != nil {
		return err
	}
	s.addr, s.tls = addr, conf
	return nil
}

func loadTLS(cfg OpenConfig) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.CA != "" {
		from := file{"the file of CA certificates", "CA", cfg.CA}
		pem, err := from.read()
		if err != nil {
			return nil, err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, from.wrong("it holds no certificate in PEM")
		}
	}
	if cfg.Cert == "" && cfg.Key == "" {
		return conf, nil
	}
	if cfg.Cert == "" || cfg.Key == "" {
		return nil, &ConfigError{Subject: "the client certificate", Problem: "certificate and key go together"}
	}
	pair, err := loadPair(cfg)
	if err != nil {
		return nil, err
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}

func loadPair(cfg OpenConfig) (tls.Certificate, error) {
	from := file{"the client certificate", "Cert", cfg.Cert}
	cert, err := from.read()
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := file{"the client certificate's key", "Key", cfg.Key}.read()
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair, from.wrong(err.Error())
	}
	return pair, nil
}

// options are go-redis's for one server. Whatever it would decide by itself
// about time, repetition and noise is turned off: a request is one try, its
// context is its limit, and the handshake is one round trip.
func options(a address, w *wires) *redis.Options {
	return &redis.Options{
		Network: a.network, Addr: a.hosts[0], DB: a.db,
		Username: a.user, Password: a.password,
		Dialer:                   w.dial,
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ContextTimeoutEnabled:    true,
		MaxRetries:               -1,
		DialerRetries:            1,
		ReadTimeout:              -1,
		WriteTimeout:             -1,
		ConnMaxIdleTime:          -1,
		PipelinePoolSize:         -1,
	}
}
