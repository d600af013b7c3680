package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
	"redlockrun/internal/topic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// namesLimit is how long the store is asked for the names of jobs while a person waits for the
// shell.
const namesLimit = 300 * time.Millisecond

// handOn is a directive beyond cobra's: the only line is the number of the word, from 0, with
// which a command line of its own begins.
const handOn cobra.ShellCompDirective = 64

const nothingElse = cobra.ShellCompDirectiveNoFileComp

// An answer holds the possible words as lines (WORD, or WORD, tab, description), and what the
// shell does with them.
type answer struct {
	lines     []string
	directive cobra.ShellCompDirective
}

// complete speaks cobra's protocol: args are the words behind redlockrun, and the last of them is
// the incomplete one. It never reports an error.
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
			return withPrefix(current, commandsAndMeanings())
		}
		return p.answerRun(words, current)
	}
	switch words[0] {
	case helpCommand:
		return withPrefix(current, append(commandsAndMeanings(), topicsAndMeanings()...))
	case completeCommand:
		return answer{directive: nothingElse}
	}
	if c := operator.Named(words[0]); c != nil {
		return p.answerCommand(c, words[1:], current)
	}
	return p.answerRun(words, current)
}

func commandsAndMeanings() (lines []string) {
	for _, c := range operator.All() {
		lines = append(lines, c.Name()+"\t"+c.Short)
	}
	return append(lines, helpCommand+"\tprints the help of redlockrun, of a command, or on a topic")
}

func topicsAndMeanings() (lines []string) {
	for _, t := range topic.All() {
		lines = append(lines, t.Name+"\t"+t.Short)
	}
	return lines
}

// withPrefix returns the lines that begin with current.
func withPrefix(current string, lines []string) answer {
	return answer{slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, current) }),
		nothingElse}
}

// answerRun completes a command line that runs COMMAND.
func (p *program) answerRun(words []string, current string) answer {
	flags := p.rootCommand().Flags()
	l := completionLine{flags: flags, runs: true, command: -1}
	l.read(words)
	switch {
	case l.command >= 0:
		return answer{[]string{strconv.Itoa(l.command)}, handOn}
	case l.flag != nil || strings.HasPrefix(current, "-"):
		return p.answerFlag(l, current)
	case flags.Changed("command"):
		return answer{directive: nothingElse}
	}
	return answer{[]string{strconv.Itoa(len(words))}, handOn}
}

// answerCommand completes the words behind the name of an operator command.
func (p *program) answerCommand(c *operator.Command, words []string, current string) answer {
	p.flagValues = c.Said
	c.LocalFlags() // merges those of all commands into its own
	l := completionLine{flags: c.Flags(), command: -1}
	l.read(words)
	p.typedJob = l.operand
	switch {
	case l.flag != nil || strings.HasPrefix(current, "-") && !l.ended:
		return p.answerFlag(l, current)
	case c.Single && l.operands > 0:
		return answer{directive: nothingElse}
	}
	return p.offer(c.Operands, "", current)
}

// A completionLine is the meaning of the words before the incomplete one. It ignores errors in
// them.
type completionLine struct {
	flags    *pflag.FlagSet
	runs     bool        // the first operand is COMMAND
	flag     *pflag.Flag // its value comes next; nil: none
	ended    bool        // by --
	operand  string      // the last of them, unless it is COMMAND's
	operands int         // their number, unless the first is COMMAND
	command  int         // the number of COMMAND's first word; -1: it has not begun
}

func (l *completionLine) read(words []string) {
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
			l.operands++
			l.operand = word
		case strings.HasPrefix(word, "--"):
			name, value, found := strings.Cut(word[2:], "=")
			l.take(l.flags.Lookup(name), value, found)
		default:
			l.letters(word[1:])
		}
	}
}

// take records a flag, with its value if that stands in the same word.
func (l *completionLine) take(f *pflag.Flag, value string, found bool) {
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

// letters records flags of one letter in one word.
func (l *completionLine) letters(word string) {
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

// answerFlag completes a flag or its value.
func (p *program) answerFlag(l completionLine, current string) answer {
	if l.flag != nil {
		return p.offer(flagset.KindOf(l.flag), "", current)
	}
	if name, value, found := strings.Cut(current, "="); found {
		f := l.flags.Lookup(strings.TrimPrefix(name, "--"))
		if f == nil {
			return answer{directive: nothingElse}
		}
		return p.offer(flagset.KindOf(f), name+"=", value)
	}
	var lines []string
	l.flags.VisitAll(func(f *pflag.Flag) {
		if !flagset.IsRefused(f) {
			usage, _, _ := strings.Cut(f.Usage, "\n")
			lines = append(lines, "--"+f.Name+"\t"+usage)
		}
	})
	return withPrefix(current, lines)
}

// offer completes a value. before is the part of the word in front of it.
func (p *program) offer(kind config.Kind, before, current string) answer {
	known := kind.Words()
	switch kind.Offer() {
	case config.OfferFiles:
		return answer{directive: cobra.ShellCompDirectiveDefault}
	case config.OfferDirectories:
		return answer{directive: cobra.ShellCompDirectiveFilterDirs}
	case config.OfferJobs:
		known = p.jobNames()
	case config.OfferKeptRuns:
		known = p.keptRuns()
	}
	a := withPrefix(current, known)
	for i := range a.lines {
		a.lines[i] = before + a.lines[i]
	}
	if kind.Offer() == config.OfferBeginnings {
		a.directive |= cobra.ShellCompDirectiveNoSpace
	}
	return a
}

// jobNames returns the names of the jobs that the store lists. It returns none if the store does
// not answer at once, or if it would have to run a password command that is only typed.
func (p *program) jobNames() []string {
	if !p.mayAsk() {
		return nil
	}
	o := p.operation()
	return operator.ListedNames(&o, namesLimit)
}

// keptRuns returns the runs of the typed job whose output is kept, under the conditions of jobNames.
func (p *program) keptRuns() []string {
	if p.typedJob == "" || !p.mayAsk() {
		return nil
	}
	o := p.operation()
	return operator.KeptRuns(&o, p.typedJob, namesLimit)
}

// mayAsk reports whether the store is known and no password command that is only typed would have to be run.
func (p *program) mayAsk() bool {
	typed := p.flagValues["redis-password-command"]
	return (typed == nil || *typed == nil) && p.readStore() == nil
}
