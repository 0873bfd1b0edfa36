// Package cli parses arguments by a table of flags, and generates everything that a command line shows about its
// flags from that table: help, a man page, completion for bash, zsh and fish, suggestions for misspelled words, and a
// page in Markdown. It also splits joined errors. Callers need not know these formats. The package does not know the
// flags of robobatch: the table is in cmd/robobatch, and only it and its packages import cli.
package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Program is a command line with its commands and help topics. It does not change after it is created.
type Program struct {
	Name     string    // on the command line: "robobatch"
	About    string    // its purpose in a few words, for the man page
	Version  string    // for the man page
	Date     string    // day of the version, for the man page; "" if unknown
	Commands []Command // the first command has no name: it runs if the first argument is a flag
	Topics   []Topic   // texts of the command help that explain something
	Intro    string    // paragraphs of the page in Markdown, between the title and the flags

	// Gone lists flags of a previous version, such as "bread" or, for one command, "sell bread", with their replacements.
	Gone map[string]string
}

// A Command is one task of the program, with its name and flags.
type Command struct {
	Name  string // the first argument; "" for the program itself
	About string // its purpose in one line, for the list of commands
	Task  string // heading above it in that list; "" if none
	Intro string // paragraphs before the flags; lines of examples start with spaces
	Flags []Flag // flags of one section are adjacent
	Rest  string // paragraphs after the flags

	Arguments string                // arguments that are not flags, as the synopsis shows them, such as "URL..."; "" if there are none
	Take      func(argument string) // receives each such argument; they may be before, between or after flags

	// Unexpected returns the remedy for an unexpected argument, for the error message.
	Unexpected func(argument string) string
}

// A Flag is an entry of the table of flags.
type Flag struct {
	Section string   // heading above the flag
	Name    string   // without "-"
	Arg     string   // name of the value in the help, in lower case; "" if the flag takes no value
	Doc     string   // sentences, in any number of lines; completion shows only the first, which describes the flag
	Default string   // the value if the flag is not given; "" if there is no default, or Doc gives it
	Values  []string // accepted values; nil means any
	List    bool     // it takes several of Values, separated by commas
	Files   bool     // its value is the name of a file or directory
	Rare    bool     // only the help on all flags has it
	Like    string   // name of the flag with the same meaning in another command, for error messages; "" if there is none
	Needed  string   // the remedy for the error if the flag is missing; "" if the flag is optional

	// Set sets the value, which is "true" for a flag without one. Its error describes the fault of the value, without
	// the flag's name.
	Set func(value string) error
}

// firstSentence returns the first sentence of the doc, in one line and without a full stop.
func (f *Flag) firstSentence() string {
	first, _, _ := strings.Cut(oneLine(f.Doc), ". ")
	return strings.TrimSuffix(first, ".")
}

// docText returns the doc in one line, with a sentence about the default, if there is one.
func (f *Flag) docText() string {
	if f.Default == "" {
		return oneLine(f.Doc)
	}
	return oneLine(f.Doc) + " Default: " + f.Default + "."
}

// oneLine returns a text in one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// synopsis returns how the flag is written: "-rules dir".
func (f *Flag) synopsis() string { return strings.TrimSpace("-" + f.Name + " " + f.Arg) }

// A Topic is a text of the command help.
type Topic struct {
	Name, About string
	Text        func() string
}

// Title returns how a command is called: "robobatch rules".
func (p *Program) Title(c *Command) string { return strings.TrimSpace(p.Name + " " + c.Name) }

// Command returns the command of that name, or nil. "" is the program itself.
func (p *Program) Command(name string) *Command {
	i := slices.IndexFunc(p.Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Commands[i]
}

// Flag returns the flag of that name, or nil.
func (c *Command) Flag(name string) *Flag {
	i := slices.IndexFunc(c.Flags, func(f Flag) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Flags[i]
}

// eachSection calls do for each run of consecutive flags with the same section, with its heading.
func eachSection(flags []Flag, do func(title string, flags []Flag)) {
	for len(flags) > 0 {
		n := slices.IndexFunc(flags, func(f Flag) bool { return f.Section != flags[0].Section })
		if n < 0 {
			n = len(flags)
		}
		do(flags[0].Section, flags[:n])
		flags = flags[n:]
	}
}

// Names returns the names of all commands that have a name, and "help".
func (p *Program) Names() (names []string) {
	for _, c := range p.Commands[1:] {
		names = append(names, c.Name)
	}
	return append(names, "help")
}

// A UsageError is a fault in the arguments. Messages about it refer to the help.
type UsageError struct{ Err error }

// Error names the fault.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *UsageError) Unwrap() error { return e.Err }

// Usage returns a [UsageError].
func Usage(format string, values ...any) error {
	return &UsageError{fmt.Errorf(format, values...)}
}

// Faults collects all faults of the arguments. The zero value is empty.
type Faults struct{ errs []error }

// Add adds each error that is joined in err as a [UsageError] about a flag; nil adds nothing. flag is "" if the
// errors name their flags themselves.
func (f *Faults) Add(flag string, err error) {
	for _, err := range Parts(err) {
		if flag != "" {
			err = fmt.Errorf("-%s: %w", flag, err)
		}
		f.errs = append(f.errs, &UsageError{err})
	}
}

// None reports whether there are no faults.
func (f *Faults) None() bool { return len(f.errs) == 0 }

// Err returns all faults, joined; nil if there are none.
func (f *Faults) Err() error { return errors.Join(f.errs...) }

// Joined returns the errors that [errors.Join] joined in err, and whether err is such a list. Without one, the errors
// are meaningless.
func Joined(err error) ([]error, bool) {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	all := list.Unwrap()
	return all, err.Error() == errors.Join(all...).Error() // fmt.Errorf with several %w unwraps to a list, too
}

// Parts returns the errors that are joined in err, at any depth; only err itself if it is not a list; nil for nil.
func Parts(err error) (all []error) {
	list, ok := Joined(err)
	switch {
	case ok:
		for _, err := range list {
			all = append(all, Parts(err)...)
		}
	case err != nil:
		all = append(all, err)
	}
	return all
}

// Columns returns the width of a text in terminal columns: two for each wide East Asian letter and each pictograph,
// none for a combining mark. The text must not contain line ends or control sequences.
func Columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns the width of a character in terminal columns: 0, 1 or 2.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the Unicode blocks whose characters take two columns (Unicode Standard Annex #11).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// Fit shortens a text to at most that many columns; fewer than three count as three. It replaces the middle by a "…",
// because long names and rules often differ only at the end. A text that fits is returned unchanged.
func Fit(s string, columns int) string {
	columns = max(columns, 3)
	if len(s) <= columns || Columns(s) <= columns {
		return s
	}
	const mark = "…"
	head := (columns - 1) * 2 / 3
	tail := columns - 1 - head
	begin := 0
	for _, r := range s {
		if head -= columnsOf(r); head < 0 {
			break
		}
		begin += utf8.RuneLen(r)
	}
	end := len(s)
	for end > begin {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if tail -= columnsOf(r); tail < 0 {
			break
		}
		end -= size
	}
	isMark := func(r rune) bool { return columnsOf(r) == 0 } // of a letter that is omitted
	return s[:begin] + mark + strings.TrimLeftFunc(s[end:], isMark)
}

// FitWords shortens each word of a text that is longer than that many columns, as [Fit] does.
func FitWords(s string, columns int) string {
	words := strings.Split(s, " ")
	for i, word := range words {
		words[i] = Fit(word, columns)
	}
	return strings.Join(words, " ")
}

// Fill wraps the words of a text into lines of at most that many columns, without a final line end. All white space
// counts as a space. A longer word gets its own line.
func Fill(text string, columns int) string {
	var sb strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		width := Columns(word)
		switch {
		case i == 0:
		case column+1+width > columns:
			sb.WriteByte('\n')
			column = 0
		default:
			sb.WriteByte(' ')
			column++
		}
		sb.WriteString(word)
		column += width
	}
	return sb.String()
}
