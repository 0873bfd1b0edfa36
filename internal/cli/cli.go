// Package cli makes everything that a command line shows about its flags from one table of them:
// help, a man page, completion for bash, zsh and fish, suggestions for misspelled words, and a page
// in Markdown. It also parses arguments by that table.
//
// It hides how these formats are written. It knows no flag of robobatch: cmd/robobatch has the
// table and is the only importer.
package cli

import (
	"slices"
	"strings"
)

// A Program is a command line with its commands and help topics. It is not changed once it is made.
type Program struct {
	Name     string    // as it is called: "robobatch"
	About    string    // its purpose in a few words, for the man page
	Version  string    // for the man page
	Date     string    // of the version, for the man page; "" is unknown
	Commands []Command // the first has no name: it runs when the first argument is a flag
	Topics   []Topic   // that explain something, for the command help
	Intro    string    // of the page in Markdown: paragraphs between the title and the flags

	// Gone are the flags that a version before had, as in "bread" or, of one command, "sell bread", with what is used instead.
	Gone map[string]string
}

// A Command is a job of the program under a name, and its flags.
type Command struct {
	Name  string // the first argument; "" for the program itself
	About string // its purpose in one line, for the list of commands
	Intro string // paragraphs before the flags; lines of examples start with spaces
	Flags []Flag // the ones of a section stand together
	Rest  string // paragraphs behind the flags

	Arguments string                // that are no flags, as the synopsis shows them: "URL..."; "" is none
	Take      func(argument string) // takes such an argument, wherever it stands among the flags

	// Stray returns the remedy for an argument that is no flag, for the message that refuses it.
	Stray func(argument string) string
}

// A Flag is an entry of the table of flags.
type Flag struct {
	Section string   // the heading that it stands under
	Name    string   // without "-"
	Arg     string   // help's name of its value, in lower-case letters; "" if it takes none
	Doc     string   // sentences, in any number of lines; completion shows the first, which describes the flag
	Default string   // the value if the flag is not given; "" if it has none, or if Doc tells it
	Values  []string // that it can take; none means any
	List    bool     // it takes several of Values, separated by commas
	Files   bool     // its value is the name of a file or directory
	Rare    bool     // help has it only if all flags are asked for
	Like    string   // the flag of another command that means the same, for the message that this one does not have it; "" if none does
	Needed  string   // the remedy if it is missing; "" if it can be left out

	// Set sets the value; "true" is the value of a flag without one. It names the fault of a value,
	// and need not repeat the flag's name.
	Set func(value string) error
}

// short returns the first sentence of the doc, without a full stop.
func (f *Flag) short() string {
	first, _, _ := strings.Cut(words(f.Doc), ". ")
	return strings.TrimSuffix(first, ".")
}

// text returns the doc and the default.
func (f *Flag) text() string {
	if f.Default == "" {
		return words(f.Doc)
	}
	return words(f.Doc) + " Default: " + f.Default + "."
}

// words returns a text in one line.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// usage returns how the flag is written: "-rules dir".
func (f *Flag) usage() string { return strings.TrimSpace("-" + f.Name + " " + f.Arg) }

// A Topic is something that the command help explains.
type Topic struct {
	Name, About string
	Text        func() string
}

// Title returns how a command is called: "robobatch rules".
func (p *Program) Title(c *Command) string { return strings.TrimSpace(p.Name + " " + c.Name) }

// Command returns the command of that name, or nil.
func (p *Program) Command(name string) *Command {
	i := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Commands[i]
}

// Flag returns the flag of that name, or nil.
func (c *Command) Flag(name string) *Flag {
	i := slices.IndexFunc(c.Flags, func(f Flag) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Flags[i]
}

// sections calls do with each run of flags that have the same section.
func sections(flags []Flag, do func(title string, flags []Flag)) {
	for len(flags) > 0 {
		n := slices.IndexFunc(flags, func(f Flag) bool { return f.Section != flags[0].Section })
		if n < 0 {
			n = len(flags)
		}
		do(flags[0].Section, flags[:n])
		flags = flags[n:]
	}
}

// Names returns the names of the commands that have one, and help.
func (p *Program) Names() (names []string) {
	for _, c := range p.Commands[1:] {
		names = append(names, c.Name)
	}
	return append(names, "help")
}
