package flags

import (
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/internal/cli"
)

// Work says how a command runs, and how much it prints.
type Work struct {
	Workers             int
	MaxMemory, Progress string
	Quiet, Verbose      bool
}

// Flags returns the flags of work but -max-memory.
func (w *Work) Flags() []cli.Flag {
	return []cli.Flag{
		{Name: "workers", Arg: "n", Default: "0", Rare: true, Set: cli.Int(&w.Workers), Doc: `
			Goroutines that work. 0 is one per processor. The output does not depend on it.`},
		{
			Name: "progress", Arg: "how", Rare: true,
			Values: console.Names, Default: "auto", Set: cli.Text(&w.Progress), Doc: `
			How progress is shown. bar; plain: lines; off; auto: a bar on a terminal, and lines
			elsewhere and where TERM=dumb says that the terminal cannot move its cursor. No terminal
			gets colours, whatever NO_COLOR says.`,
		},
		{Name: "quiet", Set: cli.Bool(&w.Quiet), Doc: "Print errors and warnings only."},
		HelpFlag(),
	}
}

// MemoryFlags are Flags with -max-memory. parts is a sentence on the parts of the limit besides rules and work.
func (w *Work) MemoryFlags(parts string) []cli.Flag {
	all := w.Flags()
	f := cli.Flag{
		Name: "max-memory", Arg: "size", Set: cli.NotEmpty(&w.MaxMemory, memory.Remedy), Doc: `
		The memory that a run may take, such as 256MiB. A process exceeds it by at most a tenth
		and 16 MiB. Rules that do not fit are
		dropped, and loaded again where they are needed. Unless the rules are a
		pack, they are first compiled into a temporary one. Temporary files are beside the output; those of
		diff and pipe are in the system's directory for them. ` + parts + ` Each worker needs some 15 MiB, 25 MiB in the
		wide layout; if there is no room, there are fewer workers, and a note. Without room for one
		the run does not start, and the error names the size it needs: 64MiB, or
		128MiB for a report, and for a million origins 30 MiB more. Default: 1280MiB for packs of more than 512 MiB,
		otherwise none.`,
	}
	return append(all[:1:1], append([]cli.Flag{f}, all[1:]...)...)
}

// VerboseFlag returns the flag -v.
func (w *Work) VerboseFlag() cli.Flag {
	return cli.Flag{Name: "v", Rare: true, Set: cli.Bool(&w.Verbose), Doc: `
		Print all of the summary, and the stack of a panic. Otherwise the summary has twelve lines: no reasons, lines,
		rules or rate, and only the top three agents and rules.`}
}

// StackFlag returns the flag -v of a command that has no other use for it. It stands in a section of help.
func StackFlag(section string) cli.Flag {
	return cli.Flag{Section: section, Name: "v", Rare: true, Set: func(string) error { return nil }, Doc: "If robobatch panics, print the stack, too."}
}

// HelpFlag returns the flag -h.
func HelpFlag() cli.Flag {
	return cli.Flag{Name: "h", Set: cli.Help, Doc: "Print this help. -h all prints all flags."}
}
