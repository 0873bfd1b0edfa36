package main

import (
	"fmt"
	"io"
	"os"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// stdName stands for standard input and standard output.
const stdName = say.Std

// streams are the standard streams.
type streams struct{ in, out, err *os.File }

// printText prints a text that was asked for.
func printText(text string, std streams) error {
	_, err := io.WriteString(std.out, text)
	return stdoutError(err)
}

// stdoutError returns the [atomicfile.Error] for an error of writing to standard output, or nil.
func stdoutError(err error) error {
	if err == nil {
		return nil
	}
	return &atomicfile.Error{Doing: "write", Name: stdName, Err: err}
}

// A voice is how a command speaks to its user, on standard error.
type voice struct {
	std      streams
	progress progress.Mode
	quiet    bool // print errors only
}

// print prints a text, unless the voice is quiet.
func (v *voice) print(text string) {
	if !v.quiet {
		io.WriteString(v.std.err, say.Printable(text)) //nolint:errcheck // there is nowhere left to say it
	}
}

// note prints what the user may not expect.
func (v *voice) note(format string, values ...any) {
	v.print("robobatch: note: " + fmt.Sprintf(format, values...) + "\n")
}

// problemsShown is how many broken records are printed one by one.
const problemsShown = 5

// noteProblems notes the broken records of captures, which are left out.
func (v *voice) noteProblems(p rulefiles.Problems) {
	if p.Total == 0 {
		return
	}
	for _, record := range p.First[:min(len(p.First), problemsShown)] {
		v.note("%v", record)
	}
	v.note("%s of captures; each is left out, or counts as a failed fetch where only its content is broken. All others are used", say.Count(p.Total, "broken record"))
}

// watch shows the progress of a part of the run until stop is called.
func (v *voice) watch(what string, read func() progress.Sample) (stop func()) {
	return progress.Watch(v.progress, v.std.err, what, read)
}

// setProgress sets how progress is shown.
func (v *voice) setProgress(a *args) (err error) {
	if v.progress, err = progress.Parse(a.progress, v.std.err); a.quiet {
		v.progress = progress.Off
	}
	return err
}
