// Command robobatch decides for every URL of a log whether the robots.txt of its origin lets a crawler fetch it, and
// writes one row per URL to a table. Run robobatch -h for its flags.
//
// The flow is flags -> args (flags.go), args -> plan (plan.go), plan -> run (job.go). Exit codes: 0 done, or standard
// output was closed by its reader; 1 more lines were rejected than -max-rejects allows; 2 an error of usage, input or output; 129, 130 and 143 after
// SIGHUP, SIGINT and SIGTERM.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/robobatch/robobatch/internal/atomicfile"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write instead
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the standard streams.
type streams struct{ in, out, err *os.File }

// run is the command, up to its exit code. It says on std.err what went wrong.
func run(arguments []string, std streams) int {
	err := remedied(command(arguments, std))
	if err == nil || isClosedPipe(err) {
		return exitDone
	}
	report := "robobatch: " + strings.ReplaceAll(err.Error(), "\n", "\nrobobatch: ") + "\n"
	if _, ok := errors.AsType[*usageError](err); ok {
		report += "Run " + helpOf(arguments) + " for help.\n"
	}
	io.WriteString(std.err, printable(report)) //nolint:errcheck // there is nowhere left to say it
	if i, ok := errors.AsType[*interruptError](err); ok {
		return i.exitCode()
	}
	if isPolicy(err) {
		return exitPolicy
	}
	return exitError
}

// printable returns s with what a terminal might obey escaped: names of files can hold any bytes.
func printable(s string) string {
	var sb strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.IsPrint(r) {
			sb.WriteRune(r)
		} else {
			sb.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return sb.String()
}

// The exit codes, apart from those of an interruptError.
const (
	exitDone   = 0
	exitPolicy = 1 // a limit that was asked for is passed
	exitError  = 2
)

// commands are what a first argument that is no flag can ask for.
var commands = map[string]func(arguments []string, std streams) error{
	"compile": compileRules,
	"bench":   benchmark,
	"pipe":    pipeVerdicts,
	"rules":   listRules,
	"help":    helpOn,
}

// helpOf returns the command that prints help about the command of these arguments.
func helpOf(arguments []string) string {
	if len(arguments) > 0 && findSpec(arguments[0]) != nil {
		return findSpec(arguments[0]).title() + " -h"
	}
	return "robobatch -h"
}

// command does what the arguments ask for: without a command's name, the main job.
func command(arguments []string, std streams) error {
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		do, ok := commands[arguments[0]]
		if !ok {
			known := slices.Sorted(maps.Keys(commands))
			err := fmt.Errorf("unknown command %q: use %s, or none to decide the URLs of a log", arguments[0], strings.Join(known, ", "))
			return &usageError{withHint(err, arguments[0], known)}
		}
		return do(arguments[1:], std)
	}
	return decideLogs(arguments, std)
}

// decideLogs is the main job.
func decideLogs(arguments []string, std streams) error {
	a, err := parseArgs(arguments)
	if err != nil {
		return err
	}
	switch {
	case a.help:
		return printHelp(help, std)
	case a.version:
		_, err := fmt.Fprintln(std.out, "robobatch", version())
		return stdoutError(err)
	}
	p, err := newPlan(a, std)
	if err != nil {
		return err
	}
	return underSignals(newJob(p))
}

// printHelp prints a text that was asked for.
func printHelp(text string, std streams) error {
	_, err := io.WriteString(std.out, text)
	return stdoutError(err)
}

// stdoutError is the FileError for an error of writing to standard output, or nil.
func stdoutError(err error) error {
	if err == nil {
		return nil
	}
	return &atomicfile.Error{Doing: "write", Name: "-", Err: err}
}

// isClosedPipe reports whether all that went wrong is that nobody reads standard output any more.
func isClosedPipe(err error) bool {
	if _, ok := errors.AsType[*faultError](err); ok {
		return false
	}
	fe, ok := errors.AsType[*atomicfile.Error](err)
	return ok && fe.Name == stdName && errors.Is(fe, syscall.EPIPE)
}
