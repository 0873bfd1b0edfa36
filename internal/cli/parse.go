package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What the Set of a flag returns that asks for something else than the command. [Program.Parse]
// returns it, too: ErrHelp at once, ErrInstead if all other flags are right.
var (
	ErrHelp    = errors.New("help is asked for")
	ErrInstead = errors.New("something else is asked for")
)

// Parse sets the flags of a command: first those that have a default, then those in the arguments,
// in their order. A flag has one dash or two, and its value is the next argument or follows "=".
// The error is a [UsageError] that wraps the one that Set returned, if it did; or joins one for
// each needed flag that is missing. It panics if a flag refuses its default.
func (p *Program) Parse(c *Command, arguments []string) error {
	for i := range c.Flags {
		if f := &c.Flags[i]; f.Default != "" {
			if err := f.Set(f.Default); err != nil {
				panic(fmt.Sprintf("default of -%s: %v", f.Name, err))
			}
		}
	}
	given := map[string]bool{}
	var instead error
	for len(arguments) > 0 && len(arguments[0]) > 1 && arguments[0][0] == '-' {
		argument := arguments[0]
		arguments = arguments[1:]
		text := strings.TrimPrefix(argument[1:], "-")
		if text == "" { // "--" ends the flags
			break
		}
		name, value, hasValue := strings.Cut(text, "=")
		if name == "" || name[0] == '-' {
			return Usage("bad flag syntax: %s", argument)
		}
		f := c.Flag(name)
		switch {
		case f == nil && name == "help":
			return ErrHelp
		case f == nil:
			return p.unknownFlag(c, name)
		case hasValue:
		case f.Arg == "":
			value = "true"
		case len(arguments) == 0:
			return Usage("-%s needs a value: write %s", name, f.usage())
		default:
			value, arguments = arguments[0], arguments[1:]
		}
		if err := f.Set(value); errors.Is(err, ErrInstead) {
			instead = err
		} else if err != nil {
			return Usage("-%s: %w", name, err)
		}
		given[name] = value != ""
	}
	switch {
	case instead != nil:
		return instead
	case len(arguments) > 0:
		return Usage("unexpected argument %q: %s", arguments[0], c.Stray(arguments[0]))
	}
	return missing(c, given)
}

// missing returns an error for each flag that is needed and not given.
func missing(c *Command, given map[string]bool) error {
	var faults Faults
	for _, f := range c.Flags {
		if f.Needed != "" && !given[f.Name] {
			faults.Add("", fmt.Errorf("-%s is missing: %s", f.Name, f.Needed))
		}
	}
	return faults.Err()
}

// unknownFlag is the error of a flag that the command does not have: whose it is, or which one may
// be meant.
func (p *Program) unknownFlag(c *Command, name string) error {
	var owners, known []string
	for i := range p.Commands {
		if p.Commands[i].Flag(name) != nil {
			owners = append(owners, p.Title(&p.Commands[i]))
		}
	}
	if len(owners) > 0 {
		return Usage("-%s is a flag of %s, not of %s", name, enumerate(owners), p.Title(c))
	}
	for _, f := range c.Flags {
		known = append(known, f.Name)
	}
	if near := Closest(name, known); near != "" {
		return Usage("there is no flag -%s: did you mean -%s?", name, near)
	}
	return Usage("there is no flag -%s", name)
}

// enumerate joins words as in "a, b and c".
func enumerate(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Text returns the Set of a flag that keeps its last value.
func Text(to *string) func(string) error {
	return func(s string) error {
		*to = s
		return nil
	}
}

// Once returns the Set of a flag that can be given once; the remedy says what to do in place of a
// second time.
func Once(to *string, remedy string) func(string) error {
	return func(s string) error {
		if *to != "" {
			return errors.New("given twice: " + remedy)
		}
		return Text(to)(s)
	}
}

// NotEmpty returns the Set of a flag that refuses an empty value, with the remedy.
func NotEmpty(to *string, remedy string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("the value is empty: " + remedy)
		}
		return Text(to)(s)
	}
}

// Each returns the Set of a flag that adds its value to those before.
func Each(to *[]string) func(string) error {
	return func(s string) error {
		*to = append(*to, s)
		return nil
	}
}

// Words returns the Set of a flag that adds the words of its value, which commas separate, to those
// before.
func Words(to *[]string) func(string) error {
	return func(s string) error {
		for word := range strings.SplitSeq(s, ",") {
			*to = append(*to, strings.TrimSpace(word))
		}
		return nil
	}
}

// Bool returns the Set of a flag that takes no value, or true or false after "=".
func Bool(to *bool) func(string) error {
	return func(s string) (err error) {
		if *to, err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("%q is neither true nor false: write the flag alone", s)
		}
		return nil
	}
}

// Help is the Set of the flag that asks for help, whatever its value.
func Help(string) error { return ErrHelp }

// Instead is the Set of a flag that takes no value and asks for something else than the command.
func Instead(s string) error {
	var asked bool
	if err := Bool(&asked)(s); err != nil || !asked {
		return err
	}
	return ErrInstead
}

// Int returns the Set of a flag whose value is a whole number, in digits or as in Go.
func Int[T int | int64](to *T) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 0, 64)
		switch *to = T(n); {
		case errors.Is(err, strconv.ErrRange) || err == nil && int64(*to) != n:
			return fmt.Errorf("%q is out of range: write a number of fewer digits", s)
		case err != nil:
			return fmt.Errorf("%q is no whole number: write one in digits, such as 4", s)
		}
		return nil
	}
}

// Positive returns the Set of a flag whose value is a whole number of 1 or more, in digits.
func Positive(to *int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no whole number of 1 or more: write one in digits", s)
		}
		*to = n
		return nil
	}
}
