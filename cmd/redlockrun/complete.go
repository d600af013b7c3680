package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// namesLimit is how long the store is asked for the names of jobs while somebody waits for
// the shell.
const namesLimit = 300 * time.Millisecond

// handOn is a directive beyond cobra's: the only line is the number of the word, from 0, with
// which a command line of its own begins.
const handOn cobra.ShellCompDirective = 64

const nothingElse = cobra.ShellCompDirectiveNoFileComp

// An answer is what a word can be: lines WORD or WORD, tab, what it means; and what the shell
// is to do with them.
type answer struct {
	lines     []string
	directive cobra.ShellCompDirective
}

// complete speaks cobra's protocol: args are the words behind redlockrun, the last of them is
// the one that is being typed. It never complains.
func (p *program) complete(args []string) error {
	if len(args) == 0 {
		return nil
	}
	last := len(args) - 1
	a := p.answer(args[:last], args[last])
	var b strings.Builder
	for _, line := range a.lines {
		b.WriteString(line + "\n")
	}
	return show(b.String() + ":" + strconv.Itoa(int(a.directive)) + "\n")
}

func (p *program) answer(words []string, current string) answer {
	if len(words) == 0 {
		if !strings.HasPrefix(current, "-") {
			return beginningWith(current, commandsAndMeanings())
		}
		return p.answerRun(words, current)
	}
	switch words[0] {
	case helpWord:
		return beginningWith(current, commandsAndMeanings())
	case completionWord:
		return beginningWith(current, shells())
	case copyWord:
		if len(words) == 1 && !strings.HasPrefix(current, "-") {
			return answer{directive: cobra.ShellCompDirectiveFilterDirs}
		}
		return answer{directive: nothingElse}
	case completeWord:
		return answer{directive: nothingElse}
	}
	if c := operator.Named(words[0]); c != nil {
		return p.answerOperator(c, words[1:], current)
	}
	return p.answerRun(words, current)
}

func commandsAndMeanings() (lines []string) {
	for i := range operator.Commands {
		c := &operator.Commands[i]
		lines = append(lines, c.Name+"\t"+c.Summary())
	}
	return append(lines, helpWord+"\tprints the help, of a command too", completionWord+"\t"+completionSummary,
		copyWord+"\t"+copySummary)
}

// beginningWith is those of lines that begin with what is typed.
func beginningWith(current string, lines []string) answer {
	return answer{slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, current) }), nothingElse}
}

// answerRun completes a command line that runs COMMAND.
func (p *program) answerRun(words []string, current string) answer {
	flags := p.rootCommand().Flags()
	l := typedLine{flags: flags, runs: true, command: -1}
	l.read(words)
	switch {
	case l.command >= 0:
		return answer{[]string{strconv.Itoa(l.command)}, handOn}
	case l.flag != nil || strings.HasPrefix(current, "-"):
		return p.answerFlag(l, "", current)
	case flags.Changed("command"):
		return answer{directive: nothingElse}
	}
	return answer{[]string{strconv.Itoa(len(words))}, handOn}
}

// answerOperator completes the words behind the name of an operator's command.
func (p *program) answerOperator(c *operator.Command, words []string, current string) answer {
	flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	p.said = flagset.Define(flags, config.OperatorSettings())
	flags.BoolP("help", "h", false, "print the help")
	c.Define(flags)
	l := typedLine{flags: flags, command: -1}
	l.read(words)
	switch {
	case l.flag != nil || strings.HasPrefix(current, "-") && !l.ended:
		return p.answerFlag(l, c.Help, current)
	case strings.Contains(c.Help, "NAME"):
		return beginningWith(current, p.jobNames())
	}
	return answer{directive: nothingElse}
}

// A typedLine is how the words before the one that is being typed are understood. What is
// wrong with them is passed over.
type typedLine struct {
	flags   *pflag.FlagSet
	runs    bool        // the first operand is COMMAND
	flag    *pflag.Flag // whose value comes next; nil: none
	ended   bool        // by --
	command int         // the number of the word with which COMMAND begins; -1: it has not begun
}

func (l *typedLine) read(words []string) {
	for i, word := range words {
		switch {
		case l.flag != nil:
			_ = l.flags.Set(l.flag.Name, word)
			l.flag = nil
		case word == "--" && !l.ended:
			if l.ended = true; l.runs {
				l.command = i + 1
				return
			}
		case l.ended, word == "-", !strings.HasPrefix(word, "-"):
			if l.runs {
				l.command = i
				return
			}
		case strings.HasPrefix(word, "--"):
			name, value, found := strings.Cut(word[2:], "=")
			l.take(l.flags.Lookup(name), value, found)
		default:
			l.letters(word[1:])
		}
	}
}

// take notes a flag, with its value if that stands in the same word.
func (l *typedLine) take(f *pflag.Flag, value string, found bool) {
	switch {
	case f == nil:
	case found:
		_ = l.flags.Set(f.Name, value)
	case f.NoOptDefVal != "":
		_ = l.flags.Set(f.Name, f.NoOptDefVal)
	default:
		l.flag = f
	}
}

// letters notes flags of one letter in one word.
func (l *typedLine) letters(word string) {
	for i := range len(word) {
		f := l.flags.ShorthandLookup(word[i : i+1])
		if f == nil {
			return
		}
		if rest := word[i+1:]; f.NoOptDefVal == "" {
			l.take(f, strings.TrimPrefix(rest, "="), rest != "")
			return
		}
		l.take(f, "", false)
	}
}

// answerFlag completes a flag or its value. help is that of an operator's command, or "".
func (p *program) answerFlag(l typedLine, help, current string) answer {
	if l.flag != nil {
		return p.values(l.flag.Name, help, "", current)
	}
	if name, value, found := strings.Cut(current, "="); found {
		return p.values(strings.TrimPrefix(name, "--"), help, name+"=", value)
	}
	var lines []string
	l.flags.VisitAll(func(f *pflag.Flag) {
		if !flagset.IsRefused(f) {
			usage, _, _ := strings.Cut(f.Usage, "\n")
			lines = append(lines, "--"+f.Name+"\t"+usage)
		}
	})
	return beginningWith(current, lines)
}

// values completes the value of a flag, of which before stands in the same word.
func (p *program) values(flag, help, before, current string) answer {
	var known []string
	switch kind := kindOf(flag, help); {
	case flag == "key":
		known = p.jobNames()
	case strings.Contains(kind, "|"):
		known = strings.Split(kind, "|")
	case kind == "FILE", kind == "PATH":
		return answer{directive: cobra.ShellCompDirectiveDefault}
	case kind == "[=DIR]":
		return answer{directive: cobra.ShellCompDirectiveFilterDirs}
	case kind == "P":
		known = strings.Fields("5m 10m 15m 20m 30m 1h 2h 3h 4h 6h 8h 12h 1d 7d")
	case kind == "URL":
		known = strings.Fields("redis:// rediss:// unix:/// redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// file:")
	case flag == "wait":
		known = []string{"forever"}
	}
	a := beginningWith(current, known)
	for i := range a.lines {
		a.lines[i] = before + a.lines[i]
	}
	if kindOf(flag, help) == "URL" {
		a.directive |= cobra.ShellCompDirectiveNoSpace
	}
	return a
}

// kindOf is what the help calls the value of a flag; "" if it has none.
func kindOf(flag, help string) string {
	if _, after, found := strings.Cut(help, "--"+flag+" "); found && !strings.HasPrefix(after, " ") {
		return strings.Fields(after)[0]
	}
	for _, s := range config.Settings() {
		if s.Name == flag {
			return s.Value
		}
	}
	return ""
}

// jobNames are the names of the jobs that the store lists: none if it does not answer at once,
// or if a command that is only typed would have to be run for it.
func (p *program) jobNames() []string {
	if typed := p.said["redis-password-command"]; typed != nil && *typed != nil {
		return nil
	}
	from, err := p.sources()
	if err != nil {
		return nil
	}
	if p.about.Config, err = from.Operator(); err != nil {
		return nil
	}
	return operator.ListedNames(p.operation(), namesLimit)
}
