// Package flags has the groups of flags that several commands share: rules, logs, crawlers, reading of robots.txt,
// outputs, limits, and verbosity. A group is a struct that holds the values as given, declares the flags, and
// converts the values to library options. A command picks the groups that it needs and adds its own flags; the type
// Command is what package main knows about a command. The package also lists the words that flags accept, for help,
// completion and suggestions. Only cmd/robobatch and the packages of its commands import it.
package flags

import (
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
)

// Sections are the flags of a command under the headings of help.
type Sections struct{ Input, Question, Output, Run []cli.Flag }

// All returns the flags in the order of help, with their sections set.
func (s Sections) All() (all []cli.Flag) {
	for _, section := range []struct {
		title string
		flags []cli.Flag
	}{{"Input", s.Input}, {"Question", s.Question}, {"Output", s.Output}, {"Run", s.Run}} {
		for _, f := range section.flags {
			f.Section = section.title
			all = append(all, f)
		}
	}
	return all
}

// Without returns flags except those with these names. It reuses the slice.
func Without(all []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(all, func(f cli.Flag) bool { return slices.Contains(names, f.Name) })
}

// WithDocs replaces the descriptions of flags by name, in place, and returns the flags.
func WithDocs(all []cli.Flag, docs map[string]string) []cli.Flag {
	for i := range all {
		if doc, ok := docs[all[i].Name]; ok {
			all[i].Doc = doc
		}
	}
	return all
}

// OutputName returns the Set of a flag that names an output.
func OutputName(to *string) func(string) error { return outputFlagSet(to, "name a file, or s3://") }

// FileName is OutputName for an output that must be a file.
func FileName(to *string) func(string) error { return outputFlagSet(to, "name a file") }

// outputFlagSet returns the field Set of a flag that names an output. It rejects names in unknown storage; remedy
// lists the valid outputs.
func outputFlagSet(to *string, remedy string) func(string) error {
	return func(name string) error {
		if scheme := storage.Foreign(name); scheme != "" {
			return fmt.Errorf("cannot write to %s: %s", scheme, remedy)
		}
		return cli.Text(to)(name)
	}
}

// Print returns the flag -print of a command with several output forms.
func Print(to *string, forms []string, doc string) cli.Flag {
	return cli.Flag{Name: "print", Arg: "form", Values: forms, Default: forms[0], Set: cli.Text(to), Doc: doc}
}

// A Command is one command of robobatch. Its flags set variables that Plan reads, so it is for one call of the program.
type Command struct {
	cli.Command
	Rules   *Rules // the rules named by flags; nil if the command takes no rules
	Packs   bool   // Rules may be a pack
	OneRule bool   // whether an argument that is not a flag is probably the value of -rules

	// Plan checks the values of the flags and finds the inputs. It writes nothing. It adds faults of values to those of
	// the arguments.
	Plan func(std console.Streams, faults cli.Faults) (process.Task, error)
}

// TakesLogs reports whether the command reads logs.
func (c *Command) TakesLogs() bool { return c.Flag("in") != nil }

// Work holds the flags about the execution and verbosity of a command.
type Work struct {
	Workers             int
	MaxMemory, Progress string
	Quiet, Verbose      bool
}

// Flags returns the flags of Work without -max-memory.
func (w *Work) Flags() []cli.Flag {
	return []cli.Flag{
		{Name: "workers", Arg: "n", Default: "0", Rare: true, Set: cli.Int(&w.Workers), Doc: `
			Worker goroutines. 0 is one per processor. The output does not depend on it.`},
		{
			Name: "progress", Arg: "how", Rare: true,
			Values: console.Names, Default: "auto", Set: cli.Text(&w.Progress), Doc: `
			How progress is shown: bar, plain (lines), off or auto. auto is a bar on a terminal, lines elsewhere and
			with TERM=dumb. There are no colours.`,
		},
		{Name: "quiet", Set: cli.Bool(&w.Quiet), Doc: "Print errors and warnings only."},
		HelpFlag(),
	}
}

// MemoryFlags returns Flags with -max-memory. parts is a sentence for the help about further parts of the limit, such
// as counts.
func (w *Work) MemoryFlags(parts string) []cli.Flag {
	all := w.Flags()
	f := cli.Flag{
		Name: "max-memory", Arg: "size", Set: cli.NotEmpty(&w.MaxMemory, memory.Remedy), Doc: `
		Memory limit, such as 256MiB, exceeded by at most a tenth plus 16 MiB. Rules are compiled into a temporary
		pack and loaded when needed. Temporary files are next to the output; those of diff and pipe in the system's
		directory. ` + parts + `
		Each worker needs about 15 MiB, or 25 MiB in the wide layout; with less, a run uses fewer workers. The minimum
		is 64MiB, or 128MiB for a report, and 30 MiB more per million origins. Default: 1280MiB for packs of more than 512 MiB, otherwise none.`,
	}
	return append(all[:1:1], append([]cli.Flag{f}, all[1:]...)...)
}

// VerboseFlag returns the flag -v.
func (w *Work) VerboseFlag() cli.Flag {
	return cli.Flag{Name: "v", Rare: true, Set: cli.Bool(&w.Verbose), Doc: `
		Print the full summary, and the stack of a panic. Otherwise the summary omits reasons, lines, rules and rate,
		and has only the top three agents and rules.`}
}

// StackFlag returns the flag -v of a command that does not use it otherwise. section is its section in the help.
func StackFlag(section string) cli.Flag {
	return cli.Flag{Section: section, Name: "v", Rare: true, Set: func(string) error { return nil }, Doc: "Print the stack if robobatch panics."}
}

// HelpFlag returns the flag -h.
func HelpFlag() cli.Flag {
	return cli.Flag{Name: "h", Set: cli.Help, Doc: "Print this help. -h all prints all flags."}
}
