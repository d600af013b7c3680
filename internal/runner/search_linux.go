package runner

import (
	"errors"
	"strings"
)

// defaultPath is searched if there is no PATH at all: confstr(_CS_PATH) of glibc.
const defaultPath = "/bin:/usr/bin"

// candidates returns the files that execvp(3) would try to execute, in its order.
func (c *Command) candidates() []string {
	name := c.name()
	if name == "" {
		return nil
	}
	if strings.Contains(name, "/") {
		return []string{name}
	}
	var files []string
	for _, dir := range strings.Split(c.path(), ":") {
		if dir == "" {
			files = append(files, name) // the working directory
			continue
		}
		files = append(files, dir+"/"+name)
	}
	return files
}

// path returns the first PATH of the environment, as getenv(3) does.
func (c *Command) path() string {
	for _, entry := range c.Env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			return value
		}
	}
	return defaultPath
}

func errNotFound(name string) error {
	if strings.Contains(name, "/") {
		return errors.New("no such file or directory")
	}
	return errors.New("not found in PATH")
}
