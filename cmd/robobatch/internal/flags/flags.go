// Package flags has the groups of flags that several commands share: rules, logs, crawlers, how robots.txt is
// read, files to write, limits, and how a command runs. A group is a struct of values as they are given.
// It declares its flags, and makes options of libraries of them. A command leaves out those that it does not
// need, and adds its own: a Command has all that main needs of one. Only cmd/robobatch and the packages of its commands
// import it.
package flags

import (
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// Sections are the flags of a command under the headings of help.
type Sections struct{ Input, Question, Output, Run []cli.Flag }

// All returns the flags in the order of help.
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

// Without returns flags but for those of these names.
func Without(all []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(all, func(f cli.Flag) bool { return slices.Contains(names, f.Name) })
}

// WithDocs returns flags, some of them with another doc.
func WithDocs(all []cli.Flag, docs map[string]string) []cli.Flag {
	for i := range all {
		if doc, ok := docs[all[i].Name]; ok {
			all[i].Doc = doc
		}
	}
	return all
}

// OutputName returns the Set of a flag that names an output.
func OutputName(to *string) func(string) error { return outputName(to, "name a file, or s3://") }

// FileName is OutputName for an output that is always a file.
func FileName(to *string) func(string) error { return outputName(to, "name a file") }

// outputName returns the Set of a flag that names an output. remedy says which there are.
func outputName(to *string, remedy string) func(string) error {
	return func(name string) error {
		if scheme := place.Foreign(name); scheme != "" {
			return fmt.Errorf("%s is no place to write to: %s", scheme, remedy)
		}
		return cli.Text(to)(name)
	}
}

// Print returns the flag -print of a command that prints one of several forms.
func Print(to *string, forms []string, doc string) cli.Flag {
	return cli.Flag{Name: "print", Arg: "form", Values: forms, Default: forms[0], Set: cli.Text(to), Doc: doc}
}
