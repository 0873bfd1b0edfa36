package flags

import (
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/internal/cli"
)

// A Command is one command of robobatch. Its flags set variables that Plan knows, so it is for one call of the
// program.
type Command struct {
	cli.Command
	Rules   *Rules // that are named; nil if the command takes none
	Packs   bool   // Rules may be a pack
	OneRule bool   // an argument that is no flag may be meant as the value of -rules

	// Plan checks the values of the flags and finds the inputs, and writes nothing. It adds the faults of the
	// values to those of the arguments.
	Plan func(std console.Streams, faults cli.Faults) (guard.Task, error)
}

// TakesLogs reports whether the command reads logs.
func (c *Command) TakesLogs() bool { return c.Flag("in") != nil }
