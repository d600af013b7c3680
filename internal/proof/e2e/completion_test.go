//go:build linux && e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/proof/ptytest"
	"redlockrun/internal/proof/redistest"
)

// How each shell is started and told of completions: redlockrun is a function that shows its
// arguments, greet a program with a completion of its own.
var completing = map[string]struct {
	argv  []string
	setup string
}{
	"bash": {[]string{"bash", "--norc", "--noprofile", "-i"}, `
source <(command redlockrun completion bash)
_greet() { COMPREPLY=($(compgen -W hello -- "$2")); }; complete -F _greet greet
redlockrun() { printf '<%s>' "$@"; echo; }`},
	"bash with bash-completion": {[]string{"bash", "--norc", "--noprofile", "-i"}, `
source /usr/share/bash-completion/bash_completion
source <(command redlockrun completion bash)
_greet() { COMPREPLY=($(compgen -W hello -- "$2")); }; complete -F _greet greet
redlockrun() { printf '<%s>' "$@"; echo; }`},
	"zsh": {[]string{"zsh", "-f", "-i"}, `
autoload -Uz compinit; compinit -D -u
source <(command redlockrun completion zsh)
_greet() { compadd hello }; compdef _greet greet
redlockrun() { printf '<%s>' "$@"; echo }`},
	"fish": {[]string{"fish", "--no-config", "--private", "-i"}, `
command redlockrun completion fish | source
complete -c greet -f -a hello
function redlockrun; printf '<%s>' $argv; echo; end`},
}

// wantTyped types a line until it shows what is wanted: a busy machine may not have the names
// of jobs in time.
func wantTyped(t *testing.T, term *ptytest.Terminal, typed, want string) {
	t.Helper()
	seen := len(term.Output())
	for range 10 {
		term.Type(typed + "\n")
		if redistest.Until(patience/6, func() bool { return strings.Contains(term.Output()[seen:], want) }) {
			return
		}
	}
	t.Fatalf("%q does not show %q; this came: %q", typed, want, term.Output()[seen:])
}

// ctrlU takes back what is typed on this line.
const ctrlU = "\x15"

func TestAtATerminalTabCompletes(t *testing.T) {
	for name, shell := range completing {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.provide("greet", "#!/bin/sh\n")
			for _, job := range []string{"orders", "shop:day", "zz $(touch made)", "it's"} {
				if _, err := s.server.Do("ZADD", "redlockrun:jobs", "1", job); err != nil {
					t.Fatal(err)
				}
			}
			term := ptytest.Start(t, append(s.env, "TERM=xterm", "LC_ALL=C.UTF-8", "PS1=$ ", "HISTFILE="),
				shell.argv...)
			term.Type("cd " + s.dir + shell.setup + "\n")
			for _, c := range []struct{ typed, want string }{
				{"redlockrun histo\tor\t", "<history><orders>"},
				{"redlockrun status shop:d\t", "<status><shop:day>"},
				{"redlockrun status zz\t", "<status><zz $(touch made)>"},
				{"redlockrun status i\t", "<status><it's>"},
				{"redlockrun status 'sh\t", "<status><shop:day>"},
				{"redlockrun -k or\tgreet", "<-k><orders><greet>"},
				{"redlockrun --log-lev\tde\tx", "<--log-level><debug><x>"},
				{"redlockrun --log-level=de\t", "<--log-level=debug>"},
				{"redlockrun --redis redis://127.0.0.1:1 status or\tx", "<--redis><redis://127.0.0.1:1><status><orx>"},
				{"redlockrun -k x -- greet he\t", "<-k><x><--><greet><hello>"},
				{"redlockrun -k 'x y' greet he\t", "<-k><x y><greet><hello>"},
				{"redlockrun -k x gree\the\t", "<-k><x><greet><hello>"},
				{"redlockrun status --redis redis://127.0.0.1:1 or\tx", "<status><--redis><redis://127.0.0.1:1><orx>"},
			} {
				wantTyped(t, term, c.typed, c.want)
			}
			for _, typed := range []string{
				"redlockrun -k $(touch made) --on-l\t", "redlockrun status $(touch made) or\t",
				"redlockrun -k \"$(touch made)\" gre\t",
			} {
				term.Type(typed + ctrlU + "echo th''ere\n")
				term.Expect("there")
			}
			if _, err := os.Stat(filepath.Join(s.dir, "made")); err == nil {
				t.Error("what was typed, or is the name of a job, was evaluated")
			}
		})
	}
}
