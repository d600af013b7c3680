package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// DefaultFile is the configuration file unless FileVar names another.
const DefaultFile = "/etc/default/redlockrun"

// maxFile bounds what fileLayer reads: a configuration has a few hundred bytes.
const maxFile = 1 << 20

const fileHint = "a line is blank, a # comment, or NAME=VALUE; " +
	"put a value with blanks or special characters into single quotes"

// fileLayer reads the configuration file. The default file may be absent.
func fileLayer(env Lookup) (layer, error) {
	path, named := env(FileVar)
	if named && path == "" {
		return layer{}, Usagef("%s is empty", FileVar).Hint("use /dev/null for no file")
	}
	called := "the file that " + FileVar + " names" // an unreadable path may be a password in the wrong place
	if !named {
		path, called = DefaultFile, DefaultFile
	}
	text, info, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return layer{}, nil
	}
	if err != nil {
		return layer{}, Usagef("read %s: %w", called, err).Hint(FileVar + "=/dev/null uses no file")
	}
	l, err := parseFile(path, text)
	if err != nil {
		return l, err
	}
	if info.Mode().Perm()&0o004 != 0 {
		l.public = path
	}
	return l, l.checkWriters(path, info)
}

// checkWriters refuses a file by which other users could make root run a command, and notes any
// other file that they may write.
func (l *layer) checkWriters(path string, info fs.FileInfo) error {
	who := writers(info)
	if who == "" {
		return nil
	}
	root := os.Geteuid() == 0
	if root && (who != theOwner || l.values["redis-password-command"] != nil) {
		return Usagef("%s: %s can write it, and root would run commands from it", path, who).
			Hint("protect it with chown root and chmod go-w; " + FileVar + "=/dev/null uses no file")
	}
	l.writable = "the configuration file " + path + " can be written by " + who
	return nil
}

const theOwner = "its owner, not root,"

// writers names the users who may write a file, except root and this user; "" if there are none.
// The members of a group count only for root: a user may have a group of its own.
func writers(info fs.FileInfo) string {
	stat, known := info.Sys().(*syscall.Stat_t)
	mode := info.Mode()
	root := os.Geteuid() == 0
	switch {
	case !mode.IsRegular() || !known:
		return ""
	case mode.Perm()&0o002 != 0:
		return "every user"
	case root && mode.Perm()&0o020 != 0:
		return "its group"
	case root && stat.Uid != 0 && !unmapped(stat.Uid):
		return theOwner
	}
	return ""
}

// unmapped reports whether a user is outside this user namespace: the host's root, perhaps.
func unmapped(uid uint32) bool {
	users, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && uid == 65534 && !slices.Equal(strings.Fields(string(users)), []string{"0", "0", "4294967295"})
}

// readFile reads a regular file or a device like /dev/null: a FIFO would make a cron job wait for
// ever. The errors do not name the path.
func readFile(path string) (text string, info fs.FileInfo, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", nil, errors.Unwrap(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeCharDevice == 0 {
		return "", nil, errors.New("it is not a regular file")
	}
	all, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(all) > maxFile {
		err = errors.New("it is larger than 1 MiB")
	}
	return string(all), info, err
}

// parseFile reads the lines of the file. A message names a line by its number and never quotes it:
// it may hold a password.
func parseFile(path, text string) (layer, error) {
	known := make(map[string]string)
	for _, s := range settings {
		known[s.Variable()] = s.Name
	}
	l := layer{values: make(map[string][]string)}
	l.sourceName = func(name string) string { return variableOf(name) + " in " + path }
	for i, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("%s:%d", path, i+1)
		variable, value, err := parseLine(line)
		if err != nil {
			return layer{}, Usagef("%s: %v", at, err).Hint(fileHint)
		}
		if !strings.HasPrefix(variable, "REDLOCKRUN_") {
			continue
		}
		name, ok := known[variable]
		if variable == variableOf("key") {
			return layer{}, Usagef("%s: %s is not allowed in the file", at, variable).
				Hint("two jobs with the same key would block each other: give each job its own --key")
		}
		if !ok {
			return layer{}, Usagef("%s: %s is not known", at, variable).
				Hint("redlockrun --help lists the flags; " +
					"each has a variable, REDLOCKRUN_ and its name in capitals with _")
		}
		l.values[name] = fromVariable(name, value)
	}
	return l, nil
}

// parseLine returns "" for a line without a setting.
func parseLine(line string) (variable, value string, err error) {
	line = strings.Trim(line, " \t")
	switch {
	case !utf8.ValidString(line):
		return "", "", errors.New("this is not UTF-8")
	case strings.HasSuffix(line, "\r"):
		return "", "", errors.New("the line ends in a carriage return")
	case strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		return "", "", errors.New("there is a control character")
	case line == "":
		return "", "", nil
	case line[0] == '#' && strings.HasSuffix(line, `\`):
		// systemd before 254 takes the next line for a part of the comment
		return "", "", errors.New("the comment ends in a backslash")
	case line[0] == '#':
		return "", "", nil
	}
	variable, value, found := strings.Cut(line, "=")
	if !found || !isName(variable) {
		return "", "", errors.New("this is not NAME=VALUE")
	}
	value, err = unquote(value)
	return variable, value, err
}

func isName(text string) bool {
	if text == "" || isDigit(text, 0) {
		return false
	}
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// unquote accepts a value in single quotes, or a bare one without a character that is special to
// sh or systemd.
func unquote(value string) (string, error) {
	if inner, ok := strings.CutPrefix(value, "'"); ok {
		inner, closed := strings.CutSuffix(inner, "'")
		if !closed || strings.Contains(inner, "'") {
			return "", errors.New("the single quotes must enclose the whole value")
		}
		return inner, nil
	}
	if strings.ContainsAny(value, "\"'`\\$&|;<>()~") || strings.ContainsFunc(value, unicode.IsSpace) {
		return "", errors.New("the value needs single quotes around it")
	}
	return value, nil
}
