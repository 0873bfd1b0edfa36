package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
)

// parse reads the flags as fs.Parse does. The error is [flag.ErrHelp], or a usageError with a remedy.
func parse(fs *flag.FlagSet, arguments []string) error {
	err := fs.Parse(arguments)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		return usage("%s", unknownFlag(fs, name))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return usage("-%s needs a value: %s", name, howToWrite(fs, name))
	}
	if m := badValue.FindStringSubmatch(text); m != nil {
		return usage("%s", wrongValue(fs, m[2], m[1], m[3]))
	}
	return &usageError{err}
}

// badValue is the message of package flag for a value that is no number or no truth value. TestFlagMessages holds that
// its messages are these.
var badValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-(\S+): (parse error|value out of range)$`)

// unknownFlag is the message for a flag that the command does not have: whose it is, or what may be meant.
func unknownFlag(fs *flag.FlagSet, name string) string {
	var owners, known []string
	for i := range specs {
		if specs[i].new().Lookup(name) != nil {
			owners = append(owners, specs[i].title())
		}
	}
	if len(owners) > 0 {
		return fmt.Sprintf("-%s is a flag of %s, not of %s", name, enumerate(owners), fs.Name())
	}
	fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	text := "flag provided but not defined: -" + name
	if near := closest(name, known); near != "" {
		text += ": did you mean -" + near + "?"
	}
	return text
}

// enumerate joins words as in "a, b and c".
func enumerate(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// howToWrite says how a flag is written with its value.
func howToWrite(fs *flag.FlagSet, name string) string {
	for i := range specs {
		if specs[i].title() != fs.Name() {
			continue
		}
		for _, d := range specs[i].flags() {
			if d.name == name {
				return fmt.Sprintf("write -%s %s", name, d.arg)
			}
		}
	}
	return fmt.Sprintf("write -%s value", name)
}

// wrongValue is the message for a value, in quotes, that is no number or no truth value.
func wrongValue(fs *flag.FlagSet, name, value, fault string) string {
	switch {
	case !takesValue(fs, name):
		return fmt.Sprintf("-%s: %s is neither true nor false: write -%s alone", name, value, name)
	case fault == "parse error":
		return fmt.Sprintf("-%s: %s is no whole number: write one in digits, such as -%s 4", name, value, name)
	}
	return fmt.Sprintf("-%s: %s is out of range: write a number of fewer digits", name, value)
}

// withHint adds to the error of a flag's value the one that may be meant; nil stays nil.
func withHint(err error, value string, known []string) error {
	if err == nil {
		return nil
	}
	if near := closest(value, known); near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}

// closest returns the known word that is most like the word: one that differs in a letter or two, or the only one that
// begins with it, or that it begins with. It returns "" if there is none.
func closest(word string, known []string) string {
	word = strings.ToLower(word)
	best, least := "", min(2, max(1, len(word)/3))+1
	if len(word) < 3 {
		least = 1 // two letters are like too many
	}
	var begun []string
	for _, k := range known {
		lower := strings.ToLower(k)
		if d := distance(word, lower); d < least {
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

// distance returns how many letters must be added, dropped, changed or swapped with their neighbour to make b of a.
func distance(a, b string) int {
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
