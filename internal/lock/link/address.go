package link

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"

	"redlockrun/internal/lock"
)

// An Address is a parsed URL. No error about it shows what stands before
// the hosts, nor anything else of a URL that is not understood: a password with
// a raw / # ? or % can be anywhere in it.
type Address struct {
	kind     string // single, sentinel, cluster
	tls      bool
	network  string // tcp, unix
	hosts    []string
	user     string
	password string
	db       int

	passwords lock.Passwords // nil: password is all there is

	// With sentinel: what the sentinels call the master, and how to ask them.
	master, sentinelUser, sentinelPassword string

	// at is the host:port where the last look found the lock, with sentinel and cluster.
	at string
}

const (
	subjectURL  = "the Redis URL"
	subjectFile = "the file of the Redis URL"
)

const hintEncode = "in a user and password, write / ? # @ : and % as %2F %3F %23 %40 %3A and %25"

// BadURL is a *lock.ConfigError about a URL. Neither text may repeat a part of it.
func BadURL(problem, hint string) error {
	return &lock.ConfigError{Subject: subjectURL, Problem: problem, Hint: hint}
}

func oddURL(problem string, reason lock.Reason) error {
	return &lock.ConfigError{Subject: subjectURL, Problem: problem, Reason: reason}
}

// schemes are the known schemes of URLs.
var schemes = map[string]Address{
	"redis":           {kind: single, network: "tcp"},
	"rediss":          {kind: single, network: "tcp", tls: true},
	"unix":            {kind: single, network: "unix"},
	"redis+sentinel":  {kind: sentinel, network: "tcp"},
	"rediss+sentinel": {kind: sentinel, network: "tcp", tls: true},
	"redis+cluster":   {kind: cluster, network: "tcp"},
	"rediss+cluster":  {kind: cluster, network: "tcp", tls: true},
}

const (
	single   = "single"
	sentinel = "sentinel"
	cluster  = "cluster"
)

var errLoneUser = BadURL("it has a user without a password", "a password alone is written :PASSWORD@")

// readURL reads a URL, or the file that file:PATH names. A user may stand in it
// without a password, which another file may have.
func readURL(ctx context.Context, raw string) (Address, error) {
	if path, ok := strings.CutPrefix(raw, "file:"); ok {
		return parseFile(ctx, path)
	}
	for _, c := range raw {
		if c < ' ' || c == 0x7f {
			return Address{}, BadURL("it contains a control character", "")
		}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	a, known := schemes[strings.ToLower(scheme)]
	if !ok || !known {
		return Address{}, BadURL("it must start with redis://, rediss://, unix://, redis+sentinel://, "+
			"redis+cluster:// or file:", "")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	userinfo := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		userinfo, authority = authority[:at], authority[at+1:]
	}
	return a, a.parse(userinfo, authority, rest)
}

// parseFile reads the one URL that a file holds.
func parseFile(ctx context.Context, path string) (Address, error) {
	from := file{subject: subjectFile, path: path}
	text, err := from.read(ctx)
	if err != nil {
		return Address{}, err
	}
	raw := strings.TrimSpace(string(text))
	if raw == "" || strings.HasPrefix(raw, "file:") {
		return Address{}, from.wrong("it contains no Redis URL")
	}
	return readURL(ctx, raw)
}

func (a *Address) parse(userinfo, authority, rest string) error {
	// An @ behind the hosts may be the one before them, after a password with a raw /
	// in it. Only the path of a socket without a user may have one.
	if a.network == "unix" && authority != "" ||
		(a.network != "unix" || userinfo != "") && strings.Contains(rest, "@") {
		return BadURL("it is malformed", hintEncode)
	}
	if err := a.parseUser(userinfo); err != nil {
		return err
	}
	if strings.Contains(rest, "#") {
		return BadURL("it contains a #", hintEncode)
	}
	path, query, _ := strings.Cut(rest, "?")
	if err := a.parseHosts(authority); err != nil {
		return err
	}
	if err := a.parsePath(path); err != nil {
		return err
	}
	return a.parseQuery(query)
}

func (a *Address) parseUser(userinfo string) (err error) {
	user, password, both := strings.Cut(userinfo, ":")
	if both && password == "" {
		return errLoneUser
	}
	if a.user, err = url.PathUnescape(user); err == nil {
		a.password, err = url.PathUnescape(password)
	}
	if err != nil {
		return BadURL("its user or password is not percent-encoded correctly", hintEncode)
	}
	return nil
}

func (a *Address) parseHosts(authority string) error {
	if a.network == "unix" {
		return nil
	}
	for _, part := range strings.Split(authority, ",") {
		hostport, ok := parseHost(part, a.defaultPort())
		if !ok {
			return BadURL("its host or port is malformed", hintEncode)
		}
		a.hosts = append(a.hosts, hostport)
	}
	if a.kind == single && len(a.hosts) != 1 {
		return oddURL("it names several hosts", lock.SeveralHosts)
	}
	return nil
}

func (a *Address) defaultPort() string {
	if a.kind == sentinel {
		return "26379"
	}
	return "6379"
}

// parseHost reads host, host:port, [v6] or [v6]:port, where an address may have a zone behind
// %25 (RFC 6874) or %; an empty host is localhost.
func parseHost(s, port string) (hostport string, ok bool) {
	host := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, port = s[:i], s[i+1:]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", false
	}
	if v6, found := strings.CutPrefix(host, "["); found {
		v6, zone, zoned := strings.Cut(strings.TrimSuffix(v6, "]"), "%")
		ip := net.ParseIP(v6)
		if !zoned {
			return net.JoinHostPort(v6, port), ip != nil
		}
		if decoded := strings.TrimPrefix(zone, "25"); decoded != "" {
			zone = decoded
		}
		return net.JoinHostPort(v6+"%"+zone, port), ip != nil && ip.To4() == nil && zone != "" && isName(zone)
	}
	if !isName(host) {
		return "", false
	}
	if host == "" {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), true
}

// isName reports whether a text has the letters of host names and of network interfaces.
func isName(text string) bool {
	for _, c := range text {
		if !(c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return true
}

func (a *Address) parsePath(path string) error {
	switch {
	case a.network == "unix":
		file, err := url.PathUnescape(path)
		if err != nil || file == "" {
			return BadURL("it names no socket", "write unix:///run/redis.sock")
		}
		a.hosts = []string{file}
		return nil
	case a.kind == cluster:
		if strings.Trim(path, "/") != "" {
			return BadURL("it names a database, which a cluster does not have", "")
		}
		return nil
	case a.kind == sentinel:
		master, db, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		name, err := url.PathUnescape(master)
		if err != nil || name == "" {
			return BadURL("it names no master", "write redis+sentinel://HOST:PORT/MASTER")
		}
		a.master = name
		return a.parseDB(strings.TrimSuffix(db, "/"))
	}
	return a.parseDB(strings.Trim(path, "/"))
}

func (a *Address) parseDB(s string) error {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return BadURL("its database is not a number", hintEncode)
	}
	a.db = int(n)
	return nil
}

// parseQuery reads what comes after the question mark: db, and with Sentinel
// how to ask the sentinels. An unknown word changes what the writer means, so it
// is not skipped.
func (a *Address) parseQuery(query string) error {
	if query == "" {
		return nil
	}
	for _, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if err := a.parseParameter(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (a *Address) parseParameter(name, value string) (err error) {
	switch {
	case name == "db" && a.kind != cluster && a.db == 0:
		return a.parseDB(value)
	case name == "sentinel_username" && a.kind == sentinel && a.sentinelUser == "":
		a.sentinelUser, err = url.PathUnescape(value)
	case name == "sentinel_password" && a.kind == sentinel && a.sentinelPassword == "":
		a.sentinelPassword, err = url.PathUnescape(value)
	case a.kind == sentinel:
		return oddURL("it has a parameter other than db, sentinel_username and sentinel_password",
			lock.UnknownSentinelParameter)
	default:
		return oddURL("it has a parameter other than db", lock.UnknownParameter)
	}
	if err != nil {
		return BadURL("one of its passwords is not percent-encoded correctly", hintEncode)
	}
	return nil
}

// login is the server at a host that wants the same user as those of a.
func (a Address) login(host string) Address {
	return Address{network: "tcp", hosts: []string{host}, user: a.user, password: a.password, passwords: a.passwords}
}

// sentinelLogin is the sentinel at a host.
func (a Address) sentinelLogin(host string) Address {
	return Address{network: "tcp", hosts: []string{host}, user: a.sentinelUser, password: a.sentinelPassword}
}

// IsSingle reports whether it is one server, neither Sentinel's nor a Cluster's.
func (a Address) IsSingle() bool { return a.kind == single }

// Master is the sentinels' name for the master; "" without Sentinel.
func (a Address) Master() string { return a.master }

// String names the place without user and password.
func (a Address) String() string {
	s := strings.Join(a.hosts, ",")
	if a.master != "" {
		s += "/" + a.master
	}
	if a.db != 0 {
		s += "/" + strconv.Itoa(a.db)
	}
	return s
}
