package operator

import (
	_ "embed" // the scripts
	"strings"

	"redlockrun/internal/config"

	"github.com/spf13/cobra"
)

var completionTexts = Texts{
	Does: "prints a completion script",
	More: ` for bash, zsh or fish. It
completes flags, values, commands, topics, names of jobs, and COMMAND as without redlockrun.`,
	Calls:  "  redlockrun completion bash|zsh|fish",
	Status: "0 done, 64 usage.",
	Examples: `  redlockrun completion bash > /etc/bash_completion.d/redlockrun
  redlockrun completion zsh > "${fpath[1]}/_redlockrun"
  redlockrun completion fish > ~/.config/fish/completions/redlockrun.fish

Names of jobs come from Redis, if it answers in time. The script evaluates nothing that is typed.`,
}

//go:embed completion/redlockrun.bash
var bashScript string

//go:embed completion/redlockrun.zsh
var zshScript string

//go:embed completion/redlockrun.fish
var fishScript string

func defineCompletion(c *Command, o *Operation) {
	c.Texts = completionTexts
	c.Operands, c.Single, c.Bare = config.KindShell, true, true
	c.RunE = func(_ *cobra.Command, words []string) error {
		script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[strings.Join(words, " ")]
		if script == "" {
			return config.Usagef("completion needs one of %s", strings.Join(config.KindShell.Words(), ", ")).
				Hint("redlockrun completion bash; redlockrun completion --help tells where to install it")
		}
		_, err := o.Out.WriteString(script)
		return err
	}
}
