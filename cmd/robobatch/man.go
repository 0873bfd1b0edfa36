package main

import (
	"fmt"
	"strings"
)

// manPage returns a man page in roff, made of the help of all commands and the topics that explain.
func manPage() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, ".TH ROBOBATCH 1 \"\" \"robobatch %s\" \"User Commands\"\n", roff(version()))
	job := specs[0].manual()
	sb.WriteString(".SH NAME\nrobobatch \\- decide for every URL of a log whether robots.txt lets a crawler fetch it\n.SH SYNOPSIS\n")
	sb.WriteString(".B robobatch\n\\-rules dir \\-in log [flags]\n.br\n")
	for _, s := range specs[1:] {
		needed := "\\-rules dir"
		if s.new().Lookup("in") != nil {
			needed += " \\-in log"
		}
		fmt.Fprintf(&sb, ".B %s\n%s [flags]\n.br\n", roff(s.title()), needed)
	}
	fmt.Fprintf(&sb, ".B robobatch help\n[%s]\n", roff(strings.Join(helpWords(), "|")))
	sb.WriteString(".SH DESCRIPTION\n" + roffParagraphs(job.intro))
	writeFlags(&sb, job)
	for _, s := range specs[1:] {
		m := s.manual()
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(roff(s.title())), roffParagraphs(m.intro))
		writeFlags(&sb, m)
	}
	for _, t := range explained() {
		fmt.Fprintf(&sb, ".SH \"%s\"\n.nf\n%s.fi\n", strings.ToUpper(roff(t.about)), roff(t.text()))
	}
	sb.WriteString(".SH \"EXIT STATUS\"\n" + roffParagraphs(strings.TrimPrefix(job.rest, "Exit codes: ")))
	return sb.String()
}

// writeFlags writes the flags of a command, by section.
func writeFlags(sb *strings.Builder, m manual) {
	for _, sec := range m.sections {
		fmt.Fprintf(sb, ".SS \"%s\"\n", roff(sec.title))
		for _, d := range sec.flags {
			fmt.Fprintf(sb, ".TP\n.B %s\n%s\n", strings.TrimSpace(roff("-"+d.name)+" \\fI"+roff(d.arg)+"\\fR"), roff(d.text))
		}
	}
}

// roffParagraphs returns paragraphs in roff. Lines that start with spaces are examples, and stay as they are.
func roffParagraphs(text string) string {
	var sb strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		if strings.HasPrefix(paragraph, " ") {
			fmt.Fprintf(&sb, ".PP\n.nf\n%s\n.fi\n", roff(paragraph))
		} else {
			fmt.Fprintf(&sb, ".PP\n%s\n", roff(paragraph))
		}
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
