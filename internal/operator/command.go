package operator

import (
	"errors"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Command is one of redlockrun's own: its name is the very first word. Help, manual and
// completion are made of it.
type Command struct {
	*cobra.Command
	Texts
	Operands config.Kind    // what they are; KindSwitch: there are none
	Single   bool           // there is one of them at most
	Plugin   bool           // an error is a line of its result, too, and the status 3
	Bare     bool           // it reads no settings, and has no flags for them
	Said     flagset.Values // the settings that its flags were given; nil if it is Bare

	operation *Operation
	help      bool
}

// Texts are what the help says of a command beside its flags. Command lines are indented.
type Texts struct {
	Does     string // what it does; the list of commands has this alone
	More     string // how the first paragraph goes on, with the punctuation between
	Calls    string // command lines, and what each does
	Remarks  string // paragraphs before the flags; may be ""
	Notes    string // paragraphs behind the flags; may be ""
	Examples string // command lines
	Status   string // what its exit statuses mean; "": usualStatus
}

// commands are all of them, in the order of the help.
var commands = [...]struct {
	name   string
	define func(*Command, *Operation) // what it is given is filled when the command is run
}{
	{"status", defineStatus}, {"history", defineHistory}, {"check", defineCheck}, {"metrics", defineMetrics},
	{"report", defineReport}, {"pause", definePause}, {"resume", defineResume}, {"stop", defineStop},
	{"unlock", defineUnlock}, {"forget", defineForget}, {"doctor", defineDoctor},
	{"completion", defineCompletion}, {"copy-self", defineCopySelf},
}

// Names are those of all commands, in the order of the help.
func Names() []string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	return names
}

// All are all commands, to read their texts and flags.
func All() []*Command {
	all := make([]*Command, len(commands))
	for i, name := range Names() {
		all[i] = Named(name)
	}
	return all
}

// Named is the command of a name, for one call; nil if there is none.
func Named(name string) *Command {
	for _, known := range commands {
		if known.name != name {
			continue
		}
		c := &Command{Command: &cobra.Command{Use: name}, operation: new(Operation)}
		known.define(c, c.operation)
		c.Short, c.Long, c.Example = c.Does, "redlockrun "+name+" "+c.Does+c.More, c.Examples
		flagset.Switch(c.PersistentFlags(), &c.help, "help", "h", "print the help")
		if !c.Bare {
			c.Said = flagset.Define(c.PersistentFlags(), config.OperatorSettings())
		}
		return c
	}
	return nil
}

// Parse understands the words behind the name. It reports whether they ask for the help. Said
// is what they say also if there is an error.
func (c *Command) Parse(args []string) (help bool, err error) {
	err = c.ParseFlags(args)
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && !c.Bare &&
		(unknown.GetSpecifiedName() == "key" || unknown.GetSpecifiedShortnames() == "k") {
		return false, config.Usagef("there is no flag --key").
			Hint("the NAME of a job stands alone: redlockrun " + c.Name() + " NAME")
	}
	if err != nil {
		return false, flagset.Explain(err, c.Flags(), "redlockrun "+c.Name()+" --help lists the flags")
	}
	return c.help, nil
}

// Run does what the words ask, once Parse has read them, and returns the exit status that tells
// what was found.
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

// OwnFlags are the flags that are not every command's, in the order of the help.
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

func (c *Command) limit(to *limit, name, usage string) {
	flagset.Var(c.Flags(), to, name, "", config.KindLimit, usage)
}
