package main

import (
	"errors"
	"flag"
	"strings"
	"testing"
)

func allFlags(fs *flag.FlagSet) (all []*flag.Flag) {
	fs.VisitAll(func(f *flag.Flag) { all = append(all, f) })
	return all
}

func TestFlagMessages(t *testing.T) {
	for _, tt := range []struct{ command, arguments, want string }{
		{"", "-dialct google", "flag provided but not defined: -dialct: did you mean -dialect?"},
		{"", "--form=csv", "flag provided but not defined: -form: did you mean -format?"},
		{"", "-output x", "flag provided but not defined: -output: did you mean -out?"},
		{"", "-nosuch", "flag provided but not defined: -nosuch"},
		{"", "-rounds 3", "-rounds is a flag of robobatch bench, not of robobatch"},
		{"rules", "-in x", "-in is a flag of robobatch and robobatch bench, not of robobatch rules"},
		{"compile", "-as-of now", "-as-of is a flag of robobatch, robobatch rules, robobatch pipe and robobatch bench, not of robobatch compile"},
		{"", "-workers many", `-workers: "many" is no whole number: write one in digits, such as -workers 4`},
		{"bench", "-rounds=2.5", `-rounds: "2.5" is no whole number: write one in digits, such as -rounds 4`},
		{"", "-limit 99999999999999999999", `-limit: "99999999999999999999" is out of range: write a number of fewer digits`},
		{"", "-quiet=maybe", `-quiet: "maybe" is neither true nor false: write -quiet alone`},
		{"", "-rules", "-rules needs a value: write -rules dir"},
		{"", "-rules a -rules b", `invalid value "b" for flag -rules: given twice: put all robots.txt into one directory`},
		{"", "-=x", "bad flag syntax: -=x"},
	} {
		err := parse(findSpec(tt.command).new(), strings.Fields(tt.arguments))
		if _, ok := errors.AsType[*usageError](err); !ok || err.Error() != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.command, tt.arguments, err, tt.want)
		}
	}
	if err := parse(findSpec("").new(), []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h gives %v", err)
	}
}

// TestFlagsAreFound holds that every flag is suggested for itself without a letter in its middle, unless that is a flag.
func TestFlagsAreFound(t *testing.T) {
	for _, s := range specs {
		fs := s.new()
		for _, f := range allFlags(fs) {
			typo := f.Name[:len(f.Name)/2] + f.Name[len(f.Name)/2+1:]
			if len(typo) < 3 || fs.Lookup(typo) != nil {
				continue
			}
			if err := parse(fs, []string{"-" + typo}); err == nil || !strings.HasSuffix(err.Error(), ": did you mean -"+f.Name+"?") {
				t.Errorf("%s -%s: %v", s.title(), typo, err)
			}
		}
	}
}

func TestClosest(t *testing.T) {
	for _, tt := range []struct{ word, known, want string }{
		{"", "a b", ""},
		{"googel", "google yandex", "google"},
		{"GOOGLE2010", "google google-2010", "google-2010"},
		{"yan", "google yandex", "yandex"},
		{"google", "google-2010 google-2019", ""}, // begins two
		{"x", "y in", ""},
		{"i", "y in", "in"},
		{"bing", "rfc9309 google", ""},
		{"csvs", "csv tsv", "csv"},
		{"jsno", "json cdxj", "json"},
	} {
		if got := closest(tt.word, strings.Fields(tt.known)); got != tt.want {
			t.Errorf("closest(%q, %s) = %q, want %q", tt.word, tt.known, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"é", "e", 2}} {
		if got, back := distance(tt.a, tt.b), distance(tt.b, tt.a); got != tt.want || back != tt.want {
			t.Errorf("distance(%q, %q) = %d, and %d in reverse, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}
