package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/robobatch/robobatch/output"
)

// stdName stands for standard input and standard output.
const stdName = "-"

// args are the flags as they were given.
type args struct {
	rules, origin string
	in            []string
	out, columns  string
	layout, where string
	outFormat     string
	stats         string
	agents        []string
	fromLog       bool
	unknown       string
	reading       reading
	form          inputForm
	storage       storageForm
	rejects       string
	maxRejects    string
	missing       string
	urlAsIs       bool
	workers       int
	limit         int64
	maxMemory     string
	progress      string
	quiet         bool
	version, help bool
}

// A usageError is a fault in the flags, so that the help is worth reading.
type usageError struct{ err error }

// Error says what is wrong.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the fault.
func (e *usageError) Unwrap() error { return e.err }

// usage returns a usageError.
func usage(format string, values ...any) error {
	return &usageError{fmt.Errorf(format, values...)}
}

// parseArgs reads the flags. It knows no meaning but that -rules and -in are needed. Errors are a usageError.
func parseArgs(arguments []string) (args, error) {
	var a args
	fs := flagSet(&a)
	switch err := parse(fs, arguments); {
	case errors.Is(err, flag.ErrHelp):
		return args{help: true}, nil
	case err != nil:
		return a, err
	case a.version:
		return a, nil
	case slices.Contains(subcommands(), fs.Arg(0)):
		return a, usage("unexpected argument %[1]q: a command comes before all flags, as in robobatch %[1]s -h", fs.Arg(0))
	case fs.NArg() > 0:
		return a, usage("unexpected argument %q: every log needs its own -in, and a pattern quotes: -in a.zst -in 'b*.zst'", fs.Arg(0))
	}
	return a, errors.Join(a.needed()...)
}

// needed returns an error for each flag that cannot be left out and was.
func (a *args) needed() (missing []error) {
	if a.rules == "" {
		missing = append(missing, usage("-rules is missing: name a directory of robots.txt files"))
	}
	if len(a.in) == 0 {
		missing = append(missing, usage("-in is missing: name a log of URLs, or - for standard input"))
	}
	return missing
}

// flagSet returns the flags, which set a. Their help is the text of help.go.
func flagSet(a *args) *flag.FlagSet {
	fs := flag.NewFlagSet("robobatch", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("rules", "", once(&a.rules, "put all robots.txt into one directory"))
	fs.Func("origin", "", once(&a.origin, "one file is the robots.txt of one origin"))
	fs.Func("in", "", func(s string) error {
		a.in = append(a.in, s)
		return nil
	})
	fs.StringVar(&a.out, "out", "", "")
	fs.StringVar(&a.outFormat, "out-format", "", "")
	fs.StringVar(&a.columns, "columns", "", "")
	fs.StringVar(&a.layout, "layout", output.Long.String(), "")
	fs.StringVar(&a.where, "where", "", "")
	fs.StringVar(&a.stats, "stats", "", "")
	fs.Func("agent", "", splitAgents(&a.agents))
	fs.BoolVar(&a.fromLog, "agent-from-log", false, "")
	fs.StringVar(&a.unknown, "unknown-agents", "", "")
	a.reading.define(fs)
	a.form.define(fs)
	a.storage.define(fs)
	fs.StringVar(&a.rejects, "rejects", "", "")
	fs.StringVar(&a.maxRejects, "max-rejects", "", "")
	fs.StringVar(&a.missing, "missing", "allow", "")
	fs.BoolVar(&a.urlAsIs, "url-as-is", false, "")
	fs.IntVar(&a.workers, "workers", 0, "")
	fs.Int64Var(&a.limit, "limit", 0, "")
	fs.Func("max-memory", "", given(&a.maxMemory, "write 256MiB, 1GiB or none"))
	fs.StringVar(&a.progress, "progress", "auto", "")
	fs.BoolVar(&a.quiet, "quiet", false, "")
	fs.BoolVar(&a.version, "version", false, "")
	return fs
}

// once returns a flag's function that sets a text, and refuses to do so twice.
func once(to *string, remedy string) func(string) error {
	return func(s string) error {
		if *to != "" {
			return errors.New("given twice: " + remedy)
		}
		*to = s
		return nil
	}
}
