package config

import (
	"os"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// Operator reads the settings that an operator's command needs: those of the store. It ignores the
// settings of runs, right or wrong. Its error is a *UsageError.
func (s *Sources) Operator() (Config, error) {
	r := parser{sources: s}
	c := Config{Timeout: r.duration("redis-timeout", time.Millisecond), Servers: r.servers(), sources: s,
		PasswordCommand: r.text("redis-password-command")}
	if r.err != nil {
		return Config{}, r.err
	}
	var err error
	if c.Address, c.Servers.URLs, err = s.address(); err != nil {
		return Config{}, err
	}
	c.Warnings = slices.Concat(c.Address.warnings(c.Servers.URLs), s.warnings())
	return c, nil
}

// UsualTimes returns the times of a run on this host without flags; the defaults if these settings
// are wrong.
func (c Config) UsualTimes() lock.Times {
	r := parser{sources: c.sources}
	if t := r.times(); r.err == nil {
		return t
	}
	return lock.TimesOf(time.Minute)
}

// WorldReadable returns the files with a password of ours that every user of this host can read.
func (c Config) WorldReadable() (paths []string) {
	for _, l := range c.sources.layers {
		if l.public != "" && slices.ContainsFunc(l.values["redis"], hasPassword) {
			paths = append(paths, l.public)
		}
	}
	for _, url := range c.Servers.URLs {
		if path, ok := strings.CutPrefix(url, "file:"); ok {
			paths = append(paths, path)
		}
	}
	paths = append(paths, c.Servers.PasswordFile, c.Servers.SentinelPasswordFile)
	return slices.DeleteFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || info.Mode().Perm()&0o004 == 0
	})
}

// OperatorSettings are the settings that an operator's command has as flags: of the store and of
// the messages.
func OperatorSettings() []Setting {
	return slices.DeleteFunc(Settings(), func(s Setting) bool {
		kind, _, _ := strings.Cut(s.Name, "-")
		return !slices.Contains([]string{"redis", "sentinel", "replicas", "durable", "local", "prefix",
			"quiet", "verbose", "log"}, kind)
	})
}

// CheckReason refuses a text that cannot be stored as the reason of an operator's act. Its error
// is a *UsageError.
func CheckReason(why string) error {
	if problem := keyProblem(why, maxReason); problem != "" {
		return Usagef("--why %s", problem)
	}
	return nil
}

// maxReason is in bytes.
const maxReason = 200

// CheckName refuses a text that cannot be the name of a job. Its error is a *UsageError.
func CheckName(name string) error {
	problem := keyProblem(name, maxKey)
	if name == "" {
		problem = "is empty"
	}
	if problem == "" {
		return nil
	}
	return Usagef("NAME %s", problem).
		Hint("a name is what --key is: valid UTF-8, 1 to 512 bytes, without control characters")
}
