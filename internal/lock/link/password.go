package link

import (
	"net"
	"strings"

	"redlockrun/internal/lock"
)

// mostPassword bounds what is read of a password file, in bytes.
const mostPassword = 1 << 16

// addPasswords puts the passwords of files where the URL has none.
func (a *Address) addPasswords(cfg lock.Servers) error {
	if a.kind == sentinel && cfg.SentinelPasswordFile != "" {
		from := file{"the file of the sentinels' password", "SentinelPasswordFile", cfg.SentinelPasswordFile}
		if err := addPassword(&a.sentinelPassword, from); err != nil {
			return err
		}
	} else if cfg.SentinelPasswordFile != "" {
		return BadURL("it is not one of sentinels, but a password file for them is given", "write redis+sentinel://HOST:PORT,HOST:PORT/MASTER")
	}
	if cfg.PasswordFile != "" {
		from := file{"the file of the password", "PasswordFile", cfg.PasswordFile}
		if err := addPassword(&a.password, from); err != nil {
			return err
		}
	}
	if a.user != "" && a.password == "" {
		return errLoneUser
	}
	if a.sentinelUser != "" && a.sentinelPassword == "" {
		return BadURL("it has a sentinel_username without a sentinel_password", "")
	}
	return nil
}

func addPassword(password *string, from file) error {
	if *password != "" {
		return BadURL("it has a password, and a password file is given too", "leave one of them out")
	}
	text, err := from.read()
	if err != nil {
		return err
	}
	*password = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if *password == "" || len(*password) > mostPassword || strings.ContainsAny(*password, "\r\n") {
		return from.wrong("it holds no password: one line is")
	}
	return nil
}

// PlainPassword is the host that a password is sent to without TLS although it
// is not this machine, or "". It is for a warning: an URL that cannot be used
// has none.
func PlainPassword(cfg lock.Servers) (host string) {
	for _, raw := range cfg.URLs {
		a, err := readURL(raw)
		secret := a.password != "" || a.sentinelPassword != "" || cfg.PasswordFile != "" || cfg.SentinelPasswordFile != ""
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
