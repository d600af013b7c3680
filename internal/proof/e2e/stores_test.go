//go:build linux

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/redistest"

	"gopkg.in/yaml.v3"
)

func TestReadmeStoresAreThoseThatAreOpened(t *testing.T) {
	kinds := map[string]bool{}
	for _, row := range rows(block(t, "stores")) {
		url := strings.NewReplacer("[", "", "]", "", "host:port", "h:1", "/db", "/0").Replace(row[0])
		if path, ok := strings.CutPrefix(url, "file:"); ok {
			url = "file:" + newSite(t).provide(filepath.Base(path), "redis://h")
		}
		if _, err := line.Open(lock.Servers{URLs: []string{url}}); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
		scheme, _, _ := strings.Cut(url, ":")
		kinds[scheme] = true
	}
	if len(kinds) != 6 {
		t.Errorf("%v", kinds)
	}
}

// jobs makes the site's server know the user jobs and its password, and
// returns the file that has it.
func (s *site) jobs() (password string) {
	s.t.Helper()
	words := []any{"ACL", "SETUSER", "jobs", "on", ">from a file"}
	for _, right := range strings.Fields(lock.MinimalACL) {
		words = append(words, right)
	}
	if _, err := s.server.Do(words...); err != nil {
		s.t.Fatal(err)
	}
	return s.provide("password", "from a file\n")
}

// runsWith runs a command under the environment of an example, at this site.
func (s *site) runsWith(env []string, file string) {
	s.t.Helper()
	password := s.jobs()
	for _, e := range env {
		e = strings.ReplaceAll(e, file, password)
		e = strings.ReplaceAll(e, "rediss://jobs@redis.internal:6379", "redis://jobs@"+s.server.Addr())
		s.env = append(s.env, e)
	}
	if r := s.run("redlockrun", "--key", "x", "--", "echo", "ran"); r != (run{stdout: "ran\n"}) {
		s.t.Error(r)
	}
}

func TestReadmeCredentialOfSystemd(t *testing.T) {
	var env []string
	for line := range strings.Lines(block(t, "credential")) {
		if e, ok := strings.CutPrefix(strings.TrimSpace(line), "Environment="); ok {
			env = append(env, e)
		}
	}
	name, _, _ := strings.Cut(unit(t, block(t, "credential"))["Service"]["LoadCredential"], ":")
	newSite(t).runsWith(env, "%d/"+name)
}

func TestRecipeOfTokensAsksTheCommand(t *testing.T) {
	s := newSite(t)
	s.jobs()
	s.provide("redis-token", "#!/bin/sh\n[ \"$*\" = '--user jobs --host redis.example' ] && echo 'from a file'\n")
	text := strings.NewReplacer("rediss://jobs@redis.example:6379", "redis://jobs@"+s.server.Addr(),
		"/usr/local/bin/", s.dir+"/").Replace(block(t, "tokens"))
	s.env = append(s.env, "REDLOCKRUN_CONFIG="+s.provide("defaults", text))
	s.env = slices.DeleteFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "REDLOCKRUN_REDIS=") })
	if r := s.run("redlockrun", "--key", "x", "--", "echo", "ran"); r.status != 0 || r.stdout != "ran\n" {
		t.Error(r)
	}
}

func TestReadmeSecretOfKubernetes(t *testing.T) {
	var pod struct {
		Containers []struct {
			Env          []struct{ Name, Value string }
			VolumeMounts []struct {
				Name      string
				MountPath string `yaml:"mountPath"`
			} `yaml:"volumeMounts"`
		}
		Volumes []struct {
			Name   string
			Secret struct {
				SecretName string `yaml:"secretName"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(block(t, "secret")), &pod); err != nil {
		t.Fatal(err)
	}
	c := pod.Containers[0]
	if pod.Volumes[0].Name != c.VolumeMounts[0].Name || pod.Volumes[0].Secret.SecretName == "" {
		t.Errorf("%+v", pod)
	}
	var env []string
	for _, e := range c.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	newSite(t).runsWith(env, c.VolumeMounts[0].MountPath+"/password")
}

func TestReadmeRightsOfTheSentinelsSuffice(t *testing.T) {
	words := strings.Fields(block(t, "sentinelacl"))
	if !slices.Equal(words[len(words)-2:], []string{lock.SentinelACL, lock.SentinelEpochACL}) {
		t.Errorf("%q", words)
	}
	sentinel := redistest.StartSentinel(t, redistest.SentinelOptions{SentinelPassword: "pw"})
	var command []any
	for _, word := range words {
		command = append(command, word)
	}
	for _, one := range sentinel.Sentinels {
		if _, err := one.Do(command...); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t)
	url := strings.Replace(sentinel.URL(), "sentinel_password=pw", "sentinel_username=jobs&sentinel_password=password",
		1)
	s.env = append(s.env, "REDLOCKRUN_REDIS="+url)
	if r := s.run("redlockrun", "--key", "x", "--", "echo", "ran"); r != (run{stdout: "ran\n"}) {
		t.Error(r)
	}
}
