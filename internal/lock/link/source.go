package link

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"time"

	"redlockrun/internal/lock"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// silence keeps go-redis from writing to stderr.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// A Source knows what a URL, and the files that it leans on, said last.
type Source struct {
	cfg  lock.Servers
	raw  string
	addr Address
	tls  *tls.Config // nil: no TLS

	known knownNodes // of a holder in a Cluster
	looks bool       // it is for who looks at many jobs, whose replies are longer than those of a run
}

// NewSource reads a URL and the files that cfg names. Its error is a *ConfigError, or that
// descriptors or memory were wanting.
func NewSource(cfg lock.Servers, raw string) (*Source, error) {
	redis.SetLogger(silence{})
	ctx, cancel := atStart(cfg)
	defer cancel()
	s := &Source{cfg: cfg, raw: raw}
	return s, s.load(ctx)
}

// atStart is for how long the files are read when there is nothing yet that they said before.
func atStart(cfg lock.Servers) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), cmp.Or(cfg.FilesTimeout, lock.DefaultFilesTimeout))
}

// Address is where that leads.
func (s *Source) Address() Address { return s.addr }

// mostReload is how long files are read again at most.
const mostReload = time.Second

// reload reads the URL and the files again, for half of the time that ctx has at most: the
// rest is for the server. What cannot be read leaves what it said before.
func (s *Source) reload(ctx context.Context) {
	limit := mostReload
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.load(ctx)
}

// load reads the URL and the files. After an error the source is as before.
func (s *Source) load(ctx context.Context) error {
	addr, err := readURL(ctx, s.raw)
	if err != nil {
		return err
	}
	if err := addr.addPasswords(ctx, s.cfg); err != nil {
		return err
	}
	if !addr.tls {
		if s.cfg.CA != "" || s.cfg.Cert != "" || s.cfg.Key != "" {
			return BadURL("it does not use TLS, but certificates are set", "use rediss:// instead of redis://")
		}
		if s.cfg.ServerName != "" {
			return BadURL("it does not use TLS, but a server name is set", "use rediss:// instead of redis://")
		}
		s.addr, s.tls = addr, nil
		return nil
	}
	conf, err := loadTLS(ctx, s.cfg)
	if err != nil {
		return err
	}
	s.addr, s.tls = addr, conf
	return nil
}

func loadTLS(ctx context.Context, cfg lock.Servers) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cfg.ServerName}
	if cfg.CA != "" {
		from := file{"the file of CA certificates", "CA", cfg.CA}
		pem, err := from.read(ctx)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, from.wrong("it contains no PEM certificate")
		}
	}
	if cfg.Cert == "" && cfg.Key == "" {
		return conf, nil
	}
	if cfg.Cert == "" || cfg.Key == "" {
		return nil, &lock.ConfigError{Subject: "the client certificate",
			Problem: "set both the certificate and the key"}
	}
	pair, err := loadPair(ctx, cfg)
	if err != nil {
		return nil, err
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}

func loadPair(ctx context.Context, cfg lock.Servers) (tls.Certificate, error) {
	from := file{"the client certificate", "Cert", cfg.Cert}
	cert, err := from.read(ctx)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := file{"the client certificate's key", "Key", cfg.Key}.read(ctx)
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
func options(a Address, cs *conns) *redis.Options {
	opts := &redis.Options{
		Network: a.network, Addr: a.hosts[0], DB: a.db,
		Username: a.user, Password: a.password,
		Dialer:                   cs.dial,
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
	if a.passwords != nil {
		opts.CredentialsProviderContext = cs.credentials(a)
	}
	return opts
}
