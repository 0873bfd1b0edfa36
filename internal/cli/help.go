package cli

import (
	"fmt"
	"slices"
	"strings"
)

// The widths of help, in columns.
const (
	helpWidth = 100 // of lines
	helpDocs  = 17  // the space left of the docs of flags
)

// HelpOn returns the text that the command help prints for a word: the help of a command or of the program
// itself (""), without its rare flags, the text of a topic, the man page (man), or completion (bash, zsh, fish). The error
// is a [UsageError].
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
	err := fmt.Errorf("there is no help on %q: use one of %s", word, strings.Join(words, ", "))
	return "", &UsageError{Hint(err, word, words)}
}

// topics returns all topics: first those that explain, then those that print text that other programs
// read.
func (p *Program) topics() []Topic {
	return append(p.Topics[:len(p.Topics):len(p.Topics)],
		Topic{"man", "a man page", p.Man},
		Topic{"bash", "completion for bash", p.Bash},
		Topic{"zsh", "completion for zsh", p.Zsh},
		Topic{"fish", "completion for fish", p.Fish},
	)
}

// helpWords returns all that the command help can be asked for.
func (p *Program) helpWords() (words []string) {
	for _, c := range p.Commands[1:] {
		words = append(words, c.Name)
	}
	for _, t := range p.topics() {
		words = append(words, t.Name)
	}
	return words
}

// Help returns the help of a command, without its rare flags or with all. The program's help lists the
// commands, too.
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
		sb.WriteString("\nCommands\n")
		for _, other := range p.Commands[1:] {
			writeEntry(&sb, other.Name, other.About)
		}
		words := p.helpWords()[len(p.Commands)-1:]
		writeEntry(&sb, "help topic", "print help on a command, or on "+strings.Join(words, ", "))
	}
	shown := slices.DeleteFunc(slices.Clone(c.Flags), func(f Flag) bool { return f.Rare && !all })
	sections(shown, func(title string, flags []Flag) {
		sb.WriteString("\n" + title + "\n")
		for _, f := range flags {
			writeEntry(&sb, f.usage(), f.text())
		}
	})
	if more := len(c.Flags) - len(shown); more > 0 {
		fmt.Fprintf(&sb, "\n%s -h all prints %d more flags.\n", p.Title(c), more)
	}
	if c.Rest != "" {
		sb.WriteString("\n" + Fill(c.Rest, helpWidth) + "\n")
	}
	return sb.String()
}

// writeEntry writes a head, and to the right of it, or below it if it is long, its explanation.
func writeEntry(sb *strings.Builder, head, doc string) {
	margin := strings.Repeat(" ", helpDocs)
	head = "  " + head
	if len(head) < helpDocs {
		head += margin[len(head):]
	} else {
		head += "\n" + margin
	}
	sb.WriteString(head + strings.ReplaceAll(Fill(doc, helpWidth-helpDocs), "\n", "\n"+margin) + "\n")
}
