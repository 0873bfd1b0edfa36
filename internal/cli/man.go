package cli

import (
	"fmt"
	"strings"
)

// Man returns a man page in roff: the help of all commands, and the topics that explain.
func (p *Program) Man() string {
	var sb strings.Builder
	job, name := &p.Commands[0], roff(p.Name)
	fmt.Fprintf(&sb, ".TH %s 1 \"%s\" \"%s %s\" \"User Commands\"\n", strings.ToUpper(name), p.Date, name, roff(p.Version))
	fmt.Fprintf(&sb, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", name, roff(p.About))
	for i := range p.Commands {
		c := &p.Commands[i]
		fmt.Fprintf(&sb, ".B %s\n%s\n.br\n", roff(p.Title(c)), roff(synopsis(c)))
	}
	fmt.Fprintf(&sb, ".B %s help\n[topic]\n.SH DESCRIPTION\n%s.SH OPTIONS\n", name, roffParagraphs(job.Intro))
	writeManFlags(&sb, job)
	for i := range p.Commands[1:] {
		c := &p.Commands[i+1]
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(roff(p.Title(c))), roffParagraphs(c.Intro))
		writeManFlags(&sb, c)
		if c.Rest != "" {
			sb.WriteString(".PP\n" + roffParagraphs(c.Rest))
		}
	}
	for _, t := range p.Topics {
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(roff(t.About)), roffParagraphs(t.Text()))
	}
	sb.WriteString(".SH \"EXIT STATUS\"\n" + roffParagraphs(strings.TrimPrefix(job.Rest, "Exit codes: ")))
	return sb.String()
}

// synopsis returns the flags that a command needs, as in "-rules dir [flags]".
func synopsis(c *Command) string {
	var sb strings.Builder
	for _, f := range c.Flags {
		if f.Needed != "" {
			sb.WriteString(f.usage() + " ")
		}
	}
	return strings.TrimSpace(sb.String() + "[flags] " + c.Arguments)
}

// writeManFlags writes the flags of a command, by section.
func writeManFlags(sb *strings.Builder, c *Command) {
	sections(c.Flags, func(title string, flags []Flag) {
		fmt.Fprintf(sb, ".SS \"%s\"\n", roff(title))
		for _, f := range flags {
			head := roff("-" + f.Name)
			if f.Arg != "" {
				head += " \\fI" + roff(f.Arg) + "\\fR"
			}
			fmt.Fprintf(sb, ".TP\n.B %s\n%s\n", head, roff(Fill(f.text(), manWidth)))
		}
	})
}

// manWidth is the length of filled lines in the source of a man page. Escapes come to it.
const manWidth = 72

// roffParagraphs returns the paragraphs of a section in roff. Lines that start with spaces are
// examples or tables, and stay as they are.
func roffParagraphs(text string) string {
	var sb strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
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
				line = Fill(line, manWidth)
			}
			sb.WriteString(roff(line) + "\n")
		}
		if !filled {
			sb.WriteString(".fi\n")
		}
	}
	return sb.String()
}

// roff escapes text. A minus stays one, so that flags can be copied, and no line is taken for a
// request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
