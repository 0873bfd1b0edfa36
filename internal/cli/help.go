package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Widths of the help in columns.
const (
	helpWidth = 100 // of lines
	helpDocs  = 17  // the space left of the docs of flags
)

// HelpOn returns the text that the command help prints for a topic: the help, without rare flags, of a command or of
// the program itself (""), the text of a topic, the man page (man), or a completion script (bash, zsh, fish). The
// error is a [UsageError].
func (p *Program) HelpOn(word string) (string, error) {
	if c := p.Command(word); c != nil {
		return p.Help(c, false), nil
	}
	for _, t := range p.topics() {
		if t.Name == word {
			return t.Text(), nil
		}
	}
	words := p.helpWords()
	err := fmt.Errorf("unknown help topic %q: use one of %s", word, strings.Join(words, ", "))
	return "", &UsageError{Hint(err, word, words)}
}

// topics returns all topics: first those for people, then those for other programs, such as completion scripts.
func (p *Program) topics() []Topic {
	return append(p.Topics[:len(p.Topics):len(p.Topics)],
		Topic{"man", "a man page", p.Man},
		Topic{"bash", "completion for bash", p.Bash},
		Topic{"zsh", "completion for zsh", p.Zsh},
		Topic{"fish", "completion for fish", p.Fish},
	)
}

// helpWords returns all arguments that the command help accepts: the names of commands, then those of topics.
func (p *Program) helpWords() (words []string) {
	for _, c := range p.Commands[1:] {
		words = append(words, c.Name)
	}
	for _, t := range p.topics() {
		words = append(words, t.Name)
	}
	return words
}

// Help returns the help of a command. The program's own help also lists the commands. Unless all is set, it has only
// the flags that are not rare, with their first sentences; the program's own flags are then under one heading, and its
// Rest is omitted.
func (p *Program) Help(c *Command, all bool) string {
	var sb strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(c.Intro, "\n"), "\n\n") {
		if i > 0 {
			sb.WriteByte('\n')
		}
		if !strings.HasPrefix(paragraph, " ") {
			paragraph = Fill(paragraph, helpWidth)
		}
		sb.WriteString(paragraph + "\n")
	}
	if c.Name == "" {
		for _, other := range p.Commands[1:] {
			if other.Task != "" {
				sb.WriteString("\n" + other.Task + "\n")
			}
			writeEntry(&sb, other.Name, other.About)
		}
	}
	shown := slices.DeleteFunc(slices.Clone(c.Flags), func(f Flag) bool { return f.Rare && !all })
	short := c.Name == "" && !all
	if short {
		sb.WriteString("\nFlags of the main job\n")
	}
	eachSection(shown, func(title string, flags []Flag) {
		if !short {
			sb.WriteString("\n" + title + "\n")
		}
		for _, f := range flags {
			if all {
				writeEntry(&sb, f.synopsis(), f.docText())
			} else {
				writeEntry(&sb, f.synopsis(), f.firstSentence()+".")
			}
		}
	})
	text := ""
	if !all {
		text = fmt.Sprintf("%s -h all prints details and %d more flags. ", p.Title(c), len(c.Flags)-len(shown))
	}
	if c.Name == "" {
		text += p.Name + " help prints this, or help on a command or on " + strings.Join(p.helpWords()[len(p.Commands)-1:], ", ") + "."
	}
	if text != "" {
		sb.WriteString("\n" + Fill(text, helpWidth) + "\n")
	}
	if c.Rest != "" && !short {
		sb.WriteString("\n" + Fill(c.Rest, helpWidth) + "\n")
	}
	return sb.String()
}

// writeEntry writes a head, such as a flag, and its explanation, wrapped, to the right of it: in the column of the
// docs, or directly behind a long head. It writes the explanation below the head if the line would be too long.
func writeEntry(sb *strings.Builder, head, doc string) {
	margin := strings.Repeat(" ", helpDocs)
	head = "  " + head
	switch {
	case len(head) < helpDocs:
		head += margin[len(head):]
	case len(head)+1+len(doc) <= helpWidth:
		head += " "
	default:
		head += "\n" + margin
	}
	sb.WriteString(head + strings.ReplaceAll(Fill(doc, helpWidth-helpDocs), "\n", "\n"+margin) + "\n")
}

// Man returns a man page in roff: the help of all commands with all flags, and the topics for people.
func (p *Program) Man() string {
	var sb strings.Builder
	job, name := &p.Commands[0], escapeRoff(p.Name)
	fmt.Fprintf(&sb, ".TH %s 1 \"%s\" \"%s %s\" \"User Commands\"\n", strings.ToUpper(name), p.Date, name, escapeRoff(p.Version))
	fmt.Fprintf(&sb, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", name, escapeRoff(p.About))
	for i := range p.Commands {
		c := &p.Commands[i]
		var needed strings.Builder // the required flags, as in "-rules dir [flags]"
		for _, f := range c.Flags {
			if f.Needed != "" {
				needed.WriteString(f.synopsis() + " ")
			}
		}
		fmt.Fprintf(&sb, ".B %s\n%s\n.br\n", escapeRoff(p.Title(c)), escapeRoff(strings.TrimSpace(needed.String()+"[flags] "+c.Arguments)))
	}
	fmt.Fprintf(&sb, ".B %s help\n[topic]\n.SH DESCRIPTION\n%s.SH OPTIONS\n", name, roffParagraphs(job.Intro))
	writeManFlags(&sb, job)
	for i := range p.Commands[1:] {
		c := &p.Commands[i+1]
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(escapeRoff(p.Title(c))), roffParagraphs(c.Intro))
		writeManFlags(&sb, c)
		if c.Rest != "" {
			sb.WriteString(".PP\n" + roffParagraphs(c.Rest))
		}
	}
	for _, t := range p.Topics {
		fmt.Fprintf(&sb, ".SH \"%s\"\n%s", strings.ToUpper(escapeRoff(t.About)), roffParagraphs(t.Text()))
	}
	sb.WriteString(".SH \"EXIT STATUS\"\n" + roffParagraphs(strings.TrimPrefix(job.Rest, "Exit codes: ")))
	return sb.String()
}

// writeManFlags writes the flags of a command in roff, by section.
func writeManFlags(sb *strings.Builder, c *Command) {
	eachSection(c.Flags, func(title string, flags []Flag) {
		fmt.Fprintf(sb, ".SS \"%s\"\n", escapeRoff(title))
		for _, f := range flags {
			head := escapeRoff("-" + f.Name)
			if f.Arg != "" {
				head += " \\fI" + escapeRoff(f.Arg) + "\\fR"
			}
			fmt.Fprintf(sb, ".TP\n.B %s\n%s\n", head, escapeRoff(Fill(f.docText(), manWidth)))
		}
	})
}

// manWidth is the maximum length of lines in the source of a man page, without escapes.
const manWidth = 72

// roffParagraphs returns the paragraphs of a text in roff. Lines that start with spaces are examples or tables, and
// stay as they are; others are wrapped.
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
			sb.WriteString(escapeRoff(line) + "\n")
		}
		if !filled {
			sb.WriteString(".fi\n")
		}
	}
	return sb.String()
}

// escapeRoff escapes a text for roff. A minus stays a minus, so that flags can be copied, and no line can be a roff
// request.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// Markdown returns a page with all flags of all commands. A flag that several commands have gets one entry, which
// contains each sentence once.
func (p *Program) Markdown() string {
	var titles []string
	sections := map[string][]*entry{}
	for i := range p.Commands {
		c := &p.Commands[i]
		for j := range c.Flags {
			f := &c.Flags[j]
			if len(sections[f.Section]) == 0 {
				titles = append(titles, f.Section)
			}
			// Add the flag of a command to its entry, or make a new entry.
			entries := sections[f.Section]
			owner := "`" + cmp.Or(c.Name, p.Name) + "`"
			i := slices.IndexFunc(entries, func(e *entry) bool { return e.usage == f.synopsis() })
			if i < 0 {
				i, entries = len(entries), append(entries, &entry{usage: f.synopsis()})
			}
			e, text := entries[i], strings.ReplaceAll(f.docText(), "*", `\*`)
			j := slices.IndexFunc(e.variants, func(v variant) bool { return v.text == text })
			if j < 0 {
				j, e.variants = len(e.variants), append(e.variants, variant{text: text})
			}
			e.variants[j].owners = append(e.variants[j].owners, owner)
			sections[f.Section] = entries
		}
	}
	names := make([]string, len(p.Commands))
	for i := range p.Commands {
		names[i] = "`" + cmp.Or(p.Commands[i].Name, p.Name) + "`"
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "# Flags of %s\n\n%s\n", p.Name, strings.TrimSpace(p.Intro))
	for _, title := range titles {
		fmt.Fprintf(&sb, "\n## %s\n", title)
		for _, e := range sections[title] {
			// Write an entry. The sentences that all variants share come first if all variants begin with one of
			// them, and last otherwise.
			fmt.Fprintf(&sb, "\n### `%s`\n", e.usage)
			if len(e.variants) == 1 {
				fmt.Fprintf(&sb, "\n%s\n\n%s.\n", Fill(e.variants[0].text, helpWidth), ownersText(e.variants[0].owners, names))
				continue
			}
			shared := splitSentences(e.variants[0].text)
			for _, v := range e.variants[1:] {
				own := splitSentences(v.text)
				shared = slices.DeleteFunc(shared, func(s string) bool { return !slices.Contains(own, s) })
			}
			last := len(shared) > 0 && slices.ContainsFunc(e.variants, func(v variant) bool { return splitSentences(v.text)[0] != shared[0] })
			if len(shared) > 0 && !last {
				fmt.Fprintf(&sb, "\n%s\n", Fill(strings.Join(shared, " "), helpWidth))
			}
			for _, v := range e.variants {
				own := slices.DeleteFunc(splitSentences(v.text), func(s string) bool { return slices.Contains(shared, s) })
				of := ownersText(v.owners, names)
				if len(own) == 0 {
					fmt.Fprintf(&sb, "\n%s.\n", Fill(of, helpWidth))
				} else {
					fmt.Fprintf(&sb, "\n%s\n", Fill(of+": "+strings.Join(own, " "), helpWidth))
				}
			}
			if last {
				fmt.Fprintf(&sb, "\n%s\n", Fill("All: "+strings.Join(shared, " "), helpWidth))
			}
		}
	}
	return sb.String()
}

// An entry is a flag on the page, with its texts.
type entry struct {
	usage    string
	variants []variant
}

// A variant is one text of a flag, with the commands that have it, as code.
type variant struct {
	text   string
	owners []string
}

// ownersText lists the commands of a variant (owners), or the exceptions if these are clearly fewer. all lists every
// command.
func ownersText(owners, all []string) string {
	others := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(owners, name) })
	switch {
	case len(others) == 0:
		return "All commands"
	case len(others)+3 < len(owners):
		return "All commands except " + enumerate(others)
	}
	return strings.Join(owners, ", ")
}

// splitSentences returns the sentences of a text, each in one line.
func splitSentences(text string) []string {
	all := strings.SplitAfter(strings.Join(strings.Fields(text), " "), ". ")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
