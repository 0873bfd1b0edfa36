package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// manPage returns a man page in roff, made of the help of all commands and the topics that explain.
func manPage() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, ".TH ROBOBATCH 1 \"%s\" \"robobatch %s\" \"User Commands\"\n", builtOn(), roff(version()))
	job := specs[0].manual()
	sb.WriteString(".SH NAME\nrobobatch \\- decide for every URL of a log whether a crawler may fetch it\n.SH SYNOPSIS\n")
	sb.WriteString(".B robobatch\n\\-rules dir \\-in log [flags]\n.br\n")
	for _, s := range specs[1:] {
		needed := "\\-rules dir"
		if s.new().Lookup("in") != nil {
			needed += " \\-in log"
		}
		fmt.Fprintf(&sb, ".B %s\n%s [flags]\n.br\n", roff(s.title()), needed)
	}
	sb.WriteString(".B robobatch help\n[topic]\n")
	sb.WriteString(".SH DESCRIPTION\n" + roffParagraphs(job.intro) + ".SH OPTIONS\n")
	writeFlags(&sb, job)
	for _, s := range specs[1:] {
		m := s.manual()
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(roff(s.title())), roffParagraphs(m.intro))
		writeFlags(&sb, m)
	}
	for _, t := range explained() {
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(roff(t.about)), roffParagraphs(t.text()))
	}
	sb.WriteString(".SH \"EXIT STATUS\"\n" + roffParagraphs(strings.TrimPrefix(job.rest, "Exit codes: ")))
	return sb.String()
}

// writeFlags writes the flags of a command, by section.
func writeFlags(sb *strings.Builder, m manual) {
	for _, sec := range m.sections {
		fmt.Fprintf(sb, ".SS \"%s\"\n", roff(sec.title))
		for _, d := range sec.flags {
			fmt.Fprintf(sb, ".TP\n.B %s\n%s\n", strings.TrimSpace(roff("-"+d.name)+" \\fI"+roff(d.arg)+"\\fR"), roff(fold(d.text)))
		}
	}
}

// builtOn returns the day of the commit that the program was built from, if that is known.
func builtOn() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if day, _, ok := strings.Cut(s.Value, "T"); ok && s.Key == "vcs.time" {
			return day
		}
	}
	return ""
}

// roffParagraphs returns the paragraphs of a section in roff. Lines that start with spaces are examples or tables, and stay
// as they are.
func roffParagraphs(text string) string {
	var sb strings.Builder
	for i, paragraph := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			sb.WriteString(".PP\n")
		}
		filled := true
		for line := range strings.SplitSeq(paragraph, "\n") {
			if example := strings.HasPrefix(line, " "); example == filled {
				filled = !example
				sb.WriteString(map[bool]string{true: ".fi\n", false: ".nf\n"}[filled])
			}
			if filled {
				line = fold(line)
			}
			sb.WriteString(roff(line) + "\n")
		}
		if !filled {
			sb.WriteString(".fi\n")
		}
	}
	return sb.String()
}

// fold ends lines at spaces, so that those of the source are not long. Of words that are filled it changes nothing.
func fold(text string) string {
	const width = 72 // escapes come to it
	var sb strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			sb.WriteByte('\n')
			column = 0
		default:
			sb.WriteByte(' ')
			column++
		}
		sb.WriteString(word)
		column += len(word)
	}
	return sb.String()
}

// roff escapes text. A minus stays one, so that flags can be copied, and no line is taken for a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
