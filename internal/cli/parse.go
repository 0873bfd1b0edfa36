package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Errors that Set returns for flags that request something other than the command. [Program.Parse] passes them on:
// ErrHelp immediately, even after faults; ErrInstead only if all other flags are valid. ErrHelpAll is an ErrHelp that
// requests all flags, including rare ones.
var (
	ErrHelp    = errors.New("help requested")
	ErrHelpAll = fmt.Errorf("%w on all flags", ErrHelp)
	ErrInstead = errors.New("something else requested")
)

// Parse sets the flags of a command: first the defaults, then the flags in the arguments, in order. A flag has one dash
// or two, and its value is the next argument or follows "=". The error joins a [UsageError] for each fault: a flag that
// is unknown, has no value or rejects it (the UsageError wraps the error of Set), an argument that is not a flag, and
// each required flag that is missing. If the command has Arguments, other arguments are passed to Take. Parse panics if
// a flag rejects its default.
func (p *Program) Parse(c *Command, arguments []string) error {
	for i := range c.Flags {
		if f := &c.Flags[i]; f.Default != "" {
			if err := f.Set(f.Default); err != nil {
				panic(fmt.Sprintf("default of -%s: %v", f.Name, err))
			}
		}
	}
	r := parsing{program: p, command: c, left: arguments, given: map[string]bool{}}
	for r.parseNext() && !r.help {
	}
	switch {
	case r.help && len(r.left) > 0 && r.left[0] == "all":
		return ErrHelpAll
	case r.help:
		return ErrHelp
	case r.instead && r.faults.None():
		return ErrInstead
	case r.instead:
		return r.faults.Err()
	case len(r.unexpected) > 0 && c.Arguments == "":
		r.faults.Add("", fmt.Errorf("unexpected argument %q: %s", r.unexpected[0], c.Unexpected(r.unexpected[0])))
	default: // an argument that is not a flag may be meant as the value of a missing flag
		// Add a fault for each required flag that is not given.
		for _, f := range r.command.Flags {
			if f.Needed != "" && !r.given[f.Name] {
				r.faults.Add("", fmt.Errorf("-%s is missing: %s", f.Name, f.Needed))
			}
		}
		for _, argument := range r.unexpected {
			c.Take(argument)
		}
	}
	return r.faults.Err()
}

// A parsing holds the state while the arguments of a command are parsed.
type parsing struct {
	program    *Program
	command    *Command
	left       []string        // arguments
	unexpected []string        // arguments that are not flags
	given      map[string]bool // flags by name, false if the value is empty
	help       bool            // help is requested
	instead    bool            // something other than the command is requested
	faults     Faults
}

// isAtFlag reports whether the next argument is a flag, or "--".
func (r *parsing) isAtFlag() bool {
	return len(r.left) > 0 && len(r.left[0]) > 1 && r.left[0][0] == '-'
}

// parseNext parses the next argument, with its value if it is a flag, and records faults. It returns false at the end,
// and after "--".
func (r *parsing) parseNext() bool {
	if len(r.left) == 0 {
		return false
	}
	isFlag, argument := r.isAtFlag(), r.left[0]
	r.left = r.left[1:]
	text := strings.TrimPrefix(argument[min(1, len(argument)):], "-")
	name, value, hasValue := strings.Cut(text, "=")
	switch {
	case !isFlag:
		r.unexpected = append(r.unexpected, argument)
	case text == "": // "--" ends the flags
		r.unexpected = append(r.unexpected, r.left...)
		return false
	case name == "" || name[0] == '-':
		r.faults.Add("", fmt.Errorf("bad flag syntax: %s", argument))
	case name == "help" && r.command.Flag(name) == nil:
		r.help = true
	case r.command.Flag(name) == nil:
		// Add the fault of a flag that the command does not have. It says which commands have the flag, or which flag
		// may be meant; that flag, if it is required, is not also reported as missing. The next argument is skipped
		// if it may be the value.
		known := make([]string, 0, len(r.command.Flags))
		var meant, like *Flag
		for i := range r.command.Flags {
			f := &r.command.Flags[i]
			if known = append(known, f.Name); f.Like == name {
				like = f
			}
		}
		fault := "unknown flag -" + name
		if instead := cmp.Or(r.program.Gone[r.command.Name+" "+name], r.program.Gone[name]); instead != "" {
			fault = "flag -" + name + " was removed: " + instead
		} else if owners, other := r.owners(name); len(owners) > 0 {
			meant = other
			fault = fmt.Sprintf("-%s is a flag of %s, not of %s", name, enumerate(owners), r.program.Title(r.command))
			if like != nil {
				r.given[like.Name] = true
				fault += ": use -" + like.Name
			}
		} else if near := Closest(name, known); near != "" {
			meant = r.command.Flag(near)
			r.given[near] = true
			fault += ": did you mean -" + near + "?"
		}
		r.faults.Add("", errors.New(fault))
		if takesValue := meant == nil || meant.Arg != ""; takesValue && !hasValue && len(r.left) > 0 && !r.isAtFlag() {
			r.left = r.left[1:]
		}
	default:
		r.setFlag(r.command.Flag(name), value, hasValue)
	}
	return true
}

// setFlag sets a flag to its value, or else to the next argument, which it removes from left. A flag without a value
// becomes "true". Faults and requests for something else are recorded.
func (r *parsing) setFlag(f *Flag, value string, hasValue bool) {
	r.given[f.Name] = true
	switch {
	case hasValue:
	case f.Arg == "":
		value = "true"
	case len(r.left) == 0:
		r.faults.Add("", fmt.Errorf("-%s needs a value: write %s", f.Name, f.synopsis()))
		return
	default:
		value, r.left = r.left[0], r.left[1:]
	}
	switch err := f.Set(value); {
	case errors.Is(err, ErrHelp):
		r.help = true
	case errors.Is(err, ErrInstead):
		r.instead = true
	default:
		r.faults.Add(f.Name, err)
	}
	r.given[f.Name] = value != ""
}

// owners returns the titles of the commands that have a flag with that name, and that flag of the first of these
// commands; nil if there is none.
func (r *parsing) owners(name string) (titles []string, first *Flag) {
	for i := range r.program.Commands {
		c := &r.program.Commands[i]
		if f := c.Flag(name); f != nil {
			titles = append(titles, r.program.Title(c))
			if first == nil {
				first = f
			}
		}
	}
	return titles, first
}

// enumerate joins words as in "a, b and c". There must be a word.
func enumerate(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Text returns a Set that keeps the last value.
func Text(to *string) func(string) error {
	return func(s string) error {
		*to = s
		return nil
	}
}

// Once returns a Set that keeps the value, and rejects a second one with the remedy. *to must be "" at first; an empty
// value does not count.
func Once(to *string, remedy string) func(string) error {
	return func(s string) error {
		if *to != "" {
			return errors.New("given twice: " + remedy)
		}
		return Text(to)(s)
	}
}

// NotEmpty returns a Set that keeps the last value, and rejects an empty one with the remedy.
func NotEmpty(to *string, remedy string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("the value is empty: " + remedy)
		}
		return Text(to)(s)
	}
}

// Each returns a Set that appends the value.
func Each(to *[]string) func(string) error {
	return func(s string) error {
		*to = append(*to, s)
		return nil
	}
}

// Words returns a Set that appends the comma-separated words of the value, without space around them.
func Words(to *[]string) func(string) error {
	return func(s string) error {
		for word := range strings.SplitSeq(s, ",") {
			*to = append(*to, strings.TrimSpace(word))
		}
		return nil
	}
}

// Bool returns a Set for a flag without a value, or with true or false after "=".
func Bool(to *bool) func(string) error {
	return func(s string) (err error) {
		if *to, err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("%q is neither true nor false: write only the flag", s)
		}
		return nil
	}
}

// Help is the Set of the help flag, for any value.
func Help(string) error { return ErrHelp }

// Instead is the Set of a flag without a value that requests something other than the command. It returns ErrInstead
// for true, and nil for false.
func Instead(s string) error {
	var asked bool
	if err := Bool(&asked)(s); err != nil || !asked {
		return err
	}
	return ErrInstead
}

// Int returns a Set for an integer, in digits or in Go syntax such as 0x10.
func Int[T int | int64](to *T) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 0, 64)
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && int64(T(n)) != n:
			return fmt.Errorf("%q is out of range: write a number with fewer digits", s)
		case err != nil:
			return fmt.Errorf("%q is not an integer: write one in digits, such as 4", s)
		}
		*to = T(n)
		return nil
	}
}

// Positive returns a Set for a positive integer in digits.
func Positive(to *int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a positive integer: write one in digits", s)
		}
		*to = n
		return nil
	}
}

// Hint adds the known value that may be meant, if there is one, to an error about a value; nil stays nil.
func Hint(err error, value string, known []string) error {
	if near := Closest(value, known); err != nil && near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}

// HintOrMeant is Hint with synonyms: meant maps words that people may write to the known values.
func HintOrMeant(err error, value string, known []string, meant map[string]string) error {
	if word := meant[strings.ToLower(value)]; err != nil && word != "" {
		return fmt.Errorf("%w; did you mean %s?", err, word)
	}
	return Hint(err, value, known)
}

// Closest returns the known word that is most similar to word, ignoring case: one that differs in one letter or two, or
// the only one that is a prefix of the word or has it as a prefix. For a word below three letters, the rules are
// stricter. It returns "" if there is none.
func Closest(word string, known []string) string {
	word = strings.ToLower(word)
	best, least := "", min(2, max(1, len(word)/3))+1
	if len(word) < 3 {
		// For a word of up to two letters, return the only known word of two letters that differs in one letter or in
		// their order, or else the only known word that begins with it.
		var near, begun []string
		for _, k := range known {
			lower := strings.ToLower(k)
			if len(word) == 2 && len(k) == 2 && Distance(word, lower) < 2 {
				near = append(near, k)
			}
			if word != "" && (lower == word || strings.HasPrefix(lower, word)) {
				begun = append(begun, k)
			}
		}
		switch {
		case len(near) == 1:
			return near[0]
		case len(near) == 0 && len(begun) == 1:
			return begun[0]
		}
		return "" // two letters are like too many
	}
	var begun []string
	for _, k := range known {
		lower := strings.ToLower(k)
		if d := Distance(word, lower); d < least {
			best, least = k, d
		}
		if word != "" && (strings.HasPrefix(lower, word) || len(k) > 1 && strings.HasPrefix(word, lower)) {
			begun = append(begun, k)
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
	}
	return best
}

// Distance returns the number of bytes that must be added, removed, changed or swapped with their neighbour to turn a
// into b.
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// Choose returns the index of a value among the known ones. The error names the kind of value, lists the known ones,
// and suggests one if value is similar.
func Choose(kind, value string, known []string) (int, error) {
	if i := slices.Index(known, value); i >= 0 {
		return i, nil
	}
	return 0, Hint(fmt.Errorf("unknown %s %q: use one of %s", kind, value, strings.Join(known, ", ")), value, known)
}
