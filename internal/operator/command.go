package operator

import (
	"errors"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Command is one of redlockrun's operator commands: its name is the very first word. Help,
// manual and completion are made from it.
type Command struct {
	*cobra.Command
	Texts
	Operands config.Kind    // the kind of its operands; KindSwitch: it has none
	Single   bool           // it takes one operand at most
	Plugin   bool           // an error is a line of its result, too, and the status 3
	Bare     bool           // it reads no settings, and has no flags for them
	Said     flagset.Values // the settings from its flags; nil if it is Bare

	operation *Operation
	help      bool // --help
}

// Texts are the parts of a command's help beside its flags. Command lines are indented.
type Texts struct {
	Does     string // what it does; the list of commands has this alone
	More     string // the rest of the first paragraph, with the punctuation between
	Calls    string // command lines, and what each does
	Remarks  string // paragraphs before the flags; may be ""
	Notes    string // paragraphs behind the flags; may be ""
	Examples string // command lines
	Status   string // what its exit statuses mean; "": usualStatus
}

// commands lists all commands, in the order of the help.
var commands = [...]struct {
	name   string
	define func(*Command, *Operation) // sets the function that Run calls
}{
	{"status", defineStatus}, {"history", defineHistory}, {"logs", defineLogs}, {"check", defineCheck},
	{"metrics", defineMetrics},
	{"report", defineReport}, {"pause", definePause}, {"resume", defineResume}, {"stop", defineStop},
	{"unlock", defineUnlock}, {"forget", defineForget}, {"doctor", defineDoctor},
	{"completion", defineCompletion}, {"copy-self", defineCopySelf},
}

// Names returns the names of all commands, in the order of the help.
func Names() []string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	return names
}

// All returns all commands, to read their texts and flags.
func All() []*Command {
	all := make([]*Command, len(commands))
	for i, name := range Names() {
		all[i] = Named(name)
	}
	return all
}

// Named returns the command of a name, for one call; nil if there is none.
func Named(name string) *Command {
	for _, known := range commands {
		if known.name != name {
			continue
		}
		c := &Command{Command: &cobra.Command{Use: name}, operation: new(Operation)}
		known.define(c, c.operation)
		c.Short, c.Long, c.Example = c.Does, "redlockrun "+name+" "+c.Does+c.More, c.Examples
		flagset.Switch(c.PersistentFlags(), &c.help, "help", "", "print the whole help")
		if !c.Bare {
			c.Said = flagset.Define(c.PersistentFlags(), config.OperatorSettings())
		}
		return c
	}
	return nil
}

// Parse reads the words behind the name, and returns the help that they ask for. It sets Said even
// if there is an error.
func (c *Command) Parse(args []string) (help string, err error) {
	c.Flags().Usage = func() {} // pflag calls it for -h, which is no flag of ours
	err = c.ParseFlags(args)
	if errors.Is(err, pflag.ErrHelp) {
		return c.BriefHelp(), nil
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && !c.Bare &&
		(unknown.GetSpecifiedName() == "key" || unknown.GetSpecifiedShortnames() == "k") {
		return "", config.Usagef("there is no flag --key").
			Hint("give NAME without a flag: redlockrun " + c.Name() + " NAME")
	}
	if err != nil {
		return "", flagset.Explain(err, c.Flags(), "redlockrun "+c.Name()+" --help lists the flags")
	}
	if c.help {
		return c.HelpText(), nil
	}
	return "", nil
}

// Run executes the command that Parse has read, and returns the exit status of its result.
func (c *Command) Run(o Operation) (status int, err error) {
	*c.operation = o
	if !c.Bare {
		err = c.operation.warn()
	}
	if err == nil {
		err = c.RunE(c.Command, c.Flags().Args())
	}
	return c.operation.exitStatus, err
}

// OwnFlags returns the flags that not every command has, in the order of the help.
func (c *Command) OwnFlags() (own []*pflag.Flag) {
	c.Flags().SortFlags = false
	flags := c.LocalNonPersistentFlags()
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) { own = append(own, f) })
	return own
}

func (c *Command) toggle(to *bool, name, usage string) {
	flagset.Switch(c.Flags(), to, name, "", usage)
}

func (c *Command) text(to *string, name string, kind config.Kind, usage string) {
	flagset.Text(c.Flags(), to, name, "", kind, usage)
}

func (c *Command) number(to *int, name, short, usage string) {
	flagset.Number(c.Flags(), to, name, short, usage)
}

func (c *Command) span(to *span, name, usage string) {
	flagset.Var(c.Flags(), to, name, "", config.KindDuration, usage)
}

func (c *Command) age(to *age, name, usage string) {
	flagset.Var(c.Flags(), to, name, "", config.KindDuration, usage)
}

func (c *Command) limit(to *limit, name, usage string) {
	flagset.Var(c.Flags(), to, name, "", config.KindLimit, usage)
}
