// Package flagset collects the values of flags, and explains wrong flags in our own words: pflag
// quotes the argument, which may hold a password.
package flagset

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"redlockrun/internal/config"

	"github.com/spf13/pflag"
)

// words collects the values of a flag, unparsed: the configuration checks them.
type words []string

func (w *words) Set(word string) error { *w = append(*w, word); return nil }
func (w *words) String() string        { return "" }
func (w *words) Type() string          { return "value" }

// Values are the words of each setting, by its name.
type Values map[string]*words

// Define defines flags for the settings and returns where their values arrive.
func Define(flags *pflag.FlagSet, settings []config.Setting) Values {
	values := make(Values)
	for _, s := range settings {
		values[s.Name] = new(words)
		Var(flags, values[s.Name], s.Name, s.Short, s.Kind, s.Usage)
	}
	return values
}

// A value is a flag's that knows its kind.
type value struct {
	pflag.Value
	kind config.Kind
}

// Var gives flags one whose value is of a kind. short is its letter, or "".
func Var(flags *pflag.FlagSet, to pflag.Value, name, short string, kind config.Kind, usage string) {
	flags.VarPF(value{to, kind}, name, short, usage).NoOptDefVal = kind.Implied()
}

// Text gives flags one whose value is a text of a kind.
func Text(flags *pflag.FlagSet, to *string, name, short string, kind config.Kind, usage string) {
	flags.StringVarP(to, name, short, *to, usage)
	know(flags, name, kind)
}

// Switch gives flags one without a value.
func Switch(flags *pflag.FlagSet, to *bool, name, short, usage string) {
	flags.BoolVarP(to, name, short, *to, usage)
	know(flags, name, config.KindSwitch)
}

// Number gives flags one whose value is a number.
func Number(flags *pflag.FlagSet, to *int, name, short, usage string) {
	flags.IntVarP(to, name, short, *to, usage)
	know(flags, name, config.KindNumber)
}

// know tells a flag of pflag's own types the kind of its value.
func know(flags *pflag.FlagSet, name string, kind config.Kind) {
	f := flags.Lookup(name)
	f.Value = value{f.Value, kind}
}

// KindOf is the kind of a flag's value; of a flag that Var has not made it is a switch.
func KindOf(f *pflag.Flag) config.Kind {
	if v, ok := f.Value.(value); ok {
		return v.kind
	}
	return config.KindSwitch
}

// Lettered is a flag with its letter; short is that, or "".
func Lettered(short, flag string) string {
	if short == "" {
		return flag
	}
	return "-" + short + ", " + flag
}

// helpColumn is where a help says what a flag means.
const helpColumn = 31

// Help is the lines of a flag in a help. flag has the value, too; short is its letter, or "".
func Help(short, flag, usage string) string {
	begin := "  " + Lettered(short, flag)
	if short == "" {
		begin = "      " + flag
	}
	var b strings.Builder
	for line := range strings.SplitSeq(usage, "\n") {
		fmt.Fprintf(&b, "%-*s%s\n", helpColumn, begin+"  ", line)
		begin = ""
	}
	return b.String()
}

// Words returns the values of the flags that were given.
func (values Values) Words() map[string][]string {
	all := make(map[string][]string)
	for name, w := range values {
		if *w != nil {
			all[name] = *w
		}
	}
	return all
}

// refused is a flag of other tools that could mean two things here.
type refused struct {
	name string
	why  config.UsageError
}

var refusals = [...]refused{
	{"timeout", config.UsageError{
		Problem: "there is no --timeout: it means different things in flock(1) and timeout(1)",
		Hints:   []string{"--wait waits for the lock, --max-runtime ends the command"},
	}},
	{"retries", config.UsageError{
		Problem: "there is no --retries: in other tools it repeats a failed command",
		Hints:   []string{"--lock-retries asks for the lock again; --attempts starts a failed command again"},
	}},
}

func (r *refused) Set(string) error { return &r.why }
func (r *refused) String() string   { return "" }
func (r *refused) Type() string     { return "value" }

// DefineRefused defines the refused flags.
func DefineRefused(flags *pflag.FlagSet) {
	for i := range refusals {
		flags.VarPF(&refusals[i], refusals[i].name, "", "refused").NoOptDefVal = "-" // without a value, too
	}
}

// IsRefused reports whether a flag exists only to be refused.
func IsRefused(f *pflag.Flag) bool {
	_, is := f.Value.(*refused)
	return is
}

// Explain says in our own words what pflag found wrong: pflag quotes the argument, which may hold
// a password. help is what to read if no better hint is known.
func Explain(err error, flags *pflag.FlagSet, help string) error {
	var (
		usage   *config.UsageError
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &invalid) && !IsRefused(invalid.GetFlag()):
		return invalidValue(invalid.GetFlag().Name, err, help)
	case errors.As(err, &usage):
		return usage
	case errors.As(err, &unknown):
		return unknownFlag(unknown, flags, help)
	case errors.As(err, &missing):
		return config.Usagef("%s needs a value", dashed(missing.GetSpecifiedName())).Hint(help)
	}
	return config.Usagef("a flag is malformed").Hint(help)
}

// invalidValue names the flag with the wrong value, and says why if that is known.
func invalidValue(name string, err error, help string) error {
	usage, known := errors.AsType[*config.UsageError](err)
	if !known {
		return config.Usagef("%s: the value is malformed", dashed(name)).Hint(help)
	}
	return &config.UsageError{Problem: dashed(name) + ": " + usage.Problem, Hints: usage.Hints}
}

func unknownFlag(e *pflag.NotExistError, flags *pflag.FlagSet, help string) error {
	name := e.GetSpecifiedName()
	meant := ""
	if typed := e.GetSpecifiedShortnames(); typed != "" {
		name, meant = name[:1], similar(typed, flags) // one dash for two
	}
	return config.Usagef("there is no flag %s", dashed(name)).Hint(cmp.Or(meant, similar(name, flags), help))
}

// dashed returns a flag as it was typed, if it can be a flag at all: without the blank in --redis
// URL, a password becomes part of its name.
func dashed(name string) string {
	if strings.Trim(name, flagLetters) != "" || len(name) > 30 {
		return "of that name"
	}
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

const flagLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// similar names the flag that the user probably meant; "" if there is none.
func similar(name string, flags *pflag.FlagSet) (meant string) {
	if flags.Lookup("key") != nil && flockFlags[name] != "" {
		return flockFlags[name]
	}
	least := MostTypos + 1
	flags.VisitAll(func(f *pflag.Flag) {
		if IsRefused(f) || len(name) < 3 {
			return
		}
		if far := Typos(name, f.Name); far < least {
			least, meant = far, "did you mean --"+f.Name+"?"
		}
	})
	return meant
}

// MostTypos is the largest distance between a word and what the user meant.
const MostTypos = 2

// Typos is the distance between a word and what the user may have meant. A part of it counts as
// one letter.
func Typos(typed, meant string) int {
	if typed != meant && (strings.HasPrefix(meant, typed) || strings.HasSuffix(meant, "-"+typed)) {
		return 1
	}
	return distance(typed, meant)
}

// flockFlags are the flags that users of flock(1) and timeout(1) try.
var flockFlags = map[string]string{
	"s":          "redlockrun has no shared locks",
	"shared":     "redlockrun has no shared locks",
	"x":          "leave it out: every lock is exclusive",
	"exclusive":  "leave it out: every lock is exclusive",
	"nb":         "did you mean --nonblock?",
	"kill-after": "did you mean --grace?",
	"lock":       "did you mean --key?",
	"name":       "did you mean --key?",
	"url":        "did you mean --redis?",
}

// distance is the number of letters to insert, delete or replace to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
