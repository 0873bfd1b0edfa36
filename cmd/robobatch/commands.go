package main

import (
	"flag"
	"slices"
	"strings"
)

// A spec is what help, manual, completion and suggestions know of a command.
type spec struct {
	name string // "" is the main job
	help string // as -h prints it
	new  func() *flag.FlagSet
}

// specs are the commands that have flags, the main job first.
var specs = []spec{
	{"", help, func() *flag.FlagSet { return flagSet(new(args)) }},
	{"rules", rulesHelp, func() *flag.FlagSet { return listFlags(new(listArgs)) }},
	{"compile", compileHelp, func() *flag.FlagSet { return compileFlags(new(compileArgs)) }},
	{"pipe", pipeHelp, func() *flag.FlagSet { return pipeFlags(new(pipeArgs)) }},
	{"bench", benchHelp, func() *flag.FlagSet { return benchFlags(new(benchArgs)) }},
}

// title returns how the command is called: "robobatch rules".
func (s *spec) title() string { return strings.TrimSpace("robobatch " + s.name) }

// findSpec returns the command of that name, or nil.
func findSpec(name string) *spec {
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &specs[i]
}

// A flagDoc is what the help says of a flag.
type flagDoc struct {
	name string // without "-"
	arg  string // what its value is called; "" takes none
	text string // in one line
}

// A section is flags that stand under one heading.
type section struct {
	title string
	flags []flagDoc
}

// A manual is a help text taken apart.
type manual struct {
	intro    string // paragraphs before the flags; lines of examples start with spaces
	sections []section
	rest     string // paragraphs behind the flags
}

// manual takes the help apart.
func (s *spec) manual() manual {
	var m manual
	fs := s.new()
	for paragraph := range strings.SplitSeq(strings.TrimSpace(s.help), "\n\n") {
		title, flags, _ := strings.Cut(paragraph, "\n")
		switch {
		case strings.HasPrefix(flags, "  -"):
			m.sections = append(m.sections, section{title, flagDocs(fs, flags)})
		case len(m.sections) == 0:
			m.intro += paragraph + "\n\n"
		default:
			m.rest += paragraph + "\n\n"
		}
	}
	return m
}

// flags returns what the help says of the flags, in its order.
func (s *spec) flags() (all []flagDoc) {
	for _, sec := range s.manual().sections {
		all = append(all, sec.flags...)
	}
	return all
}

// flagDocs reads the lines of a section: those of a flag start with "  -", and others belong to the flag before.
func flagDocs(fs *flag.FlagSet, lines string) (docs []flagDoc) {
	for line := range strings.Lines(lines) {
		text, isFlag := strings.CutPrefix(line, "  -")
		text = strings.TrimSpace(text)
		if !isFlag {
			last := &docs[len(docs)-1]
			last.text = strings.TrimSpace(last.text + " " + text)
			continue
		}
		var d flagDoc
		d.name, d.text, _ = strings.Cut(text, " ")
		if takesValue(fs, d.name) {
			d.arg, d.text, _ = strings.Cut(d.text, " ")
		}
		d.text = strings.TrimSpace(d.text)
		docs = append(docs, d)
	}
	return docs
}

// takesValue reports whether a flag has a value. -h, which no FlagSet lists, has none.
func takesValue(fs *flag.FlagSet, name string) bool {
	f := fs.Lookup(name)
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}
