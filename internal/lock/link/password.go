package link

import (
	"context"
	"net"
	"strings"

	"redlockrun/internal/lock"
)

// mostPassword bounds what is read of a password file, in bytes.
const mostPassword = 1 << 16

// addPasswords puts the passwords of files where the URL has none.
func (a *Address) addPasswords(ctx context.Context, cfg lock.Servers) error {
	if a.kind == sentinel && cfg.SentinelPasswordFile != "" {
		from := file{"the file of the sentinels' password", "SentinelPasswordFile", cfg.SentinelPasswordFile}
		if err := addPassword(ctx, &a.sentinelPassword, from); err != nil {
			return err
		}
	} else if cfg.SentinelPasswordFile != "" {
		return BadURL("it names no sentinels, but a password file for sentinels is set",
			"write redis+sentinel://HOST:PORT,HOST:PORT/MASTER")
	}
	if cfg.Passwords != nil {
		return a.addCommand(cfg)
	}
	if cfg.PasswordFile != "" {
		from := file{"the file of the password", "PasswordFile", cfg.PasswordFile}
		if err := addPassword(ctx, &a.password, from); err != nil {
			return err
		}
	}
	if a.user != "" && a.password == "" {
		return errLoneUser
	}
	return a.checkSentinelUser()
}

func (a *Address) checkSentinelUser() error {
	if a.sentinelUser != "" && a.sentinelPassword == "" {
		return BadURL("it has a sentinel_username without a sentinel_password", "")
	}
	return nil
}

// addCommand lets the password come from a command alone.
func (a *Address) addCommand(cfg lock.Servers) error {
	switch {
	case a.password != "":
		return BadURL("it has a password, but a password command is set too", "remove one of them")
	case cfg.PasswordFile != "":
		return &lock.ConfigError{Subject: "the file of the password", Field: "PasswordFile",
			Problem: "a password command is set too", Hint: "remove one of them"}
	}
	a.passwords = cfg.Passwords
	return a.checkSentinelUser()
}

func addPassword(ctx context.Context, password *string, from file) error {
	if *password != "" {
		return BadURL("it has a password, but a password file is set too", "remove one of them")
	}
	text, err := from.read(ctx)
	if err != nil {
		return err
	}
	*password = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if *password == "" || len(*password) > mostPassword || strings.ContainsAny(*password, "\r\n") {
		return from.wrong("it contains no password: one line is expected")
	}
	return nil
}

// credentials are the user, and a password that is asked for when a connection is made, as
// go-redis wants them.
func (cs *conns) credentials(a Address) func(context.Context) (user, password string, err error) {
	return func(ctx context.Context) (string, string, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(cs.ctx, cancel)()
		password, err := a.passwords.Password(ctx)
		return a.user, password, err
	}
}

// outdated is err. If that is the refusal of a password that does not last, another one may
// be better, on another connection.
func (a Address) outdated(err error) error {
	r, refused := refusalIn(err)
	if a.passwords != nil && refused && (r.Code == "NOAUTH" || r.Code == "WRONGPASS") {
		r.class = outdated
		a.passwords.Refused()
	}
	return err
}

// lastPassword returns the last output of the command.
func (a Address) lastPassword() string {
	if a.passwords == nil {
		return ""
	}
	return a.passwords.Last()
}

// PlainPassword is the host that a password is sent to without TLS although it
// is not this machine, or "". It is for a warning: an URL that cannot be used
// has none.
func PlainPassword(cfg lock.Servers) (host string) {
	ctx, cancel := atStart(cfg)
	defer cancel()
	for _, raw := range cfg.URLs {
		a, err := readURL(ctx, raw)
		secret := a.password != "" || a.sentinelPassword != "" || cfg.PasswordFile != "" ||
			cfg.SentinelPasswordFile != "" ||
			cfg.Passwords != nil
		if err != nil || a.tls || a.network == "unix" || !secret {
			continue
		}
		for _, hostport := range a.hosts {
			host, _, _ := net.SplitHostPort(hostport)
			if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
				return hostport
			}
		}
	}
	return ""
}
