package main

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

func TestFlagMessages(t *testing.T) {
	for _, tt := range []struct{ command, arguments, want string }{
		{"", "-dialct google", "there is no flag -dialct: did you mean -dialect?"},
		{"", "--form=csv", "there is no flag -form: did you mean -format?"},
		{"", "-output x", "there is no flag -output: did you mean -out?"},
		{"", "-nosuch", "there is no flag -nosuch"},
		{"", "-rounds 3", "-rounds is a flag of robobatch bench, not of robobatch"},
		{"rules", "-in x", "-in is a flag of robobatch, robobatch diff, robobatch coverage, robobatch report and robobatch bench, not of robobatch rules"},
		{"compile", "-as-of now", "-as-of is a flag of robobatch, robobatch explain, robobatch check, robobatch diff, robobatch lint, robobatch coverage, robobatch report, robobatch rules, robobatch pipe and robobatch bench, not of robobatch compile"},
		{"", "-workers many", `-workers: "many" is no whole number: write one in digits, such as 4`},
		{"bench", "-rounds=2.5", `-rounds: "2.5" is no whole number: write one in digits, such as 4`},
		{"", "-limit 99999999999999999999", `-limit: "99999999999999999999" is out of range: write a number of fewer digits`},
		{"", "-quiet=maybe", `-quiet: "maybe" is neither true nor false: write the flag alone`},
		{"", "-out", "-out needs a value: write -out file"},
		{"", "-im urls.txt", "there is no flag -im: did you mean -in?"},
		{"", "-rules b", "-rules: given twice: put all robots.txt into one directory"},
		{"", "-=x", "bad flag syntax: -=x"},
	} {
		p := program(new(args))
		needed := []string{"-rules=rules"}
		if p.Command(tt.command).Flag("in") != nil {
			needed = append(needed, "-in=log")
		}
		err := p.Parse(p.Command(tt.command), append(needed, strings.Fields(tt.arguments)...))
		if _, ok := errors.AsType[*cli.UsageError](err); !ok || err.Error() != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.command, tt.arguments, err, tt.want)
		}
	}
	for _, argument := range []string{"-h", "--help"} {
		p := program(new(args))
		if err := p.Parse(p.Command(""), []string{argument}); !errors.Is(err, cli.ErrHelp) {
			t.Errorf("%s gives %v", argument, err)
		}
	}
}

// TestFlagsAreFound holds that every flag is suggested for itself without a letter in its middle,
// unless that is a flag.
func TestFlagsAreFound(t *testing.T) {
	p := program(new(args))
	for _, c := range p.Commands {
		for _, f := range c.Flags {
			typo := f.Name[:len(f.Name)/2] + f.Name[len(f.Name)/2+1:]
			if len(typo) < 3 || c.Flag(typo) != nil {
				continue
			}
			if err := p.Parse(&c, []string{"-" + typo}); err == nil || !strings.HasPrefix(err.Error()+"\n", "there is no flag -"+typo+": did you mean -"+f.Name+"?\n") {
				t.Errorf("%s -%s: %v", p.Title(&c), typo, err)
			}
		}
	}
}

// TestTable holds that each flag stands once in each command, with sentences about it, and that its
// first sentence fits beside it in lists. A value of a few stands in its doc.
func TestTable(t *testing.T) {
	word := regexp.MustCompile("^[a-z]+$")
	for _, c := range program(new(args)).Commands {
		seen := map[string]bool{}
		for _, f := range c.Flags {
			doc := strings.Join(strings.Fields(f.Doc), " ")
			first, _, _ := strings.Cut(doc, ". ")
			if seen[f.Name] || f.Section == "" || f.Set == nil || !strings.HasSuffix(doc, ".") || len(first) > 75 {
				t.Errorf("%s -%s: twice, or its doc is no sentence, or begins with a long one: %s", c.Name, f.Name, first)
			}
			seen[f.Name] = true
			if f.Arg != "" && !word.MatchString(f.Arg) {
				t.Errorf("%s -%s: the value is called %q", c.Name, f.Name, f.Arg)
			}
			for _, v := range f.Values {
				if !f.List && !regexp.MustCompile(`(^|[^\w.-])`+regexp.QuoteMeta(v)+`($|[^\w.-]|[.](\s|$))`).MatchString(doc) {
					t.Errorf("%s -%s: the doc has no %s", c.Name, f.Name, v)
				}
			}
		}
		if c.Flag("h") == nil {
			t.Errorf("%s: no -h", c.Name)
		}
	}
}

// TestValues holds that the values that completion knows are those that the flags take.
func TestValues(t *testing.T) {
	check := map[string]func(value string) error{
		"dialect": func(v string) error { _, err := robots.ParseDialect(v); return err },
		"format":  func(v string) error { _, err := ingest.ParseFormat(v); return err },
		"agent-chars": func(v string) error {
			return choosing(summary.Reading{Dialect: "google", AgentChars: v, EmptyAllow: "disallow"})
		},
		"yandex-empty-allow": func(v string) error {
			return choosing(summary.Reading{Dialect: "yandex", AgentChars: "standard", EmptyAllow: v})
		},
		"missing": func(v string) error {
			_, err := cli.Choose("answer", v, words.Missing)
			return err
		},
		"unknown-agents": func(v string) error {
			var faults cli.Faults
			chooseLogAgents(&args{Asked: summary.Asked{AgentFromLog: true, UnknownAgents: v}}, &faults)
			return faults.Err()
		},
		"layout":      func(v string) error { _, err := output.ParseLayout(v); return err },
		"compression": func(v string) error { _, err := output.ParseCompression(v); return err },
		"sort":        func(v string) error { _, err := output.ParseSort(v); return err },
		"on-error":    func(v string) error { _, err := parseOnError(v); return err },
		"progress":    func(v string) error { _, err := progress.Parse(v, os.Stderr); return err },
		"out-format":  func(v string) error { _, err := output.ChooseFormat("", v); return err },

		"url-encoding":   func(v string) error { _, err := output.ParseTextEncoding(v); return err },
		"partition-mode": func(v string) error { _, err := output.ParsePartitionMode(v); return err },
		"what-if":        func(v string) error { _, err := parseWhatIf(v); return err },
		"csv-separator":  func(v string) error { _, err := output.ParseSeparator(v); return err },
	}
	main := program(new(args)).Command("")
	for _, f := range main.Flags {
		if f.Values == nil || f.List {
			continue
		}
		if check[f.Name] == nil || len(f.Values) < 2 {
			t.Errorf("-%s is not checked, or has no values: %q", f.Name, f.Values)
			continue
		}
		if check[f.Name]("nosuch") == nil {
			t.Errorf("-%s takes any value", f.Name)
		}
		for _, v := range f.Values {
			if err := check[f.Name](v); err != nil {
				t.Errorf("-%s %s: %v", f.Name, v, err)
			}
		}
		delete(check, f.Name)
	}
	if len(check) > 0 {
		t.Errorf("flags without values: %v", check)
	}
	_, err := robots.ParseDialect("nosuch")
	_, list, _ := strings.Cut(err.Error(), "use one of ")
	if got, want := slices.Sorted(slices.Values(robots.Dialects())), slices.Sorted(slices.Values(strings.Split(list, ", "))); !slices.Equal(got, want) {
		t.Errorf("dialects %q, there are %q", got, want)
	}
	if _, err := agents.Expand(words.Agents()); err != nil {
		t.Errorf("-agent: %v", err)
	}
	kinds := strings.Join(output.WhereKinds(), ",")
	if w, err := output.ParseWhere(kinds); err != nil || w.String() != kinds {
		t.Errorf("-where: %s, %v", w, err)
	}
}

func choosing(r summary.Reading) error {
	var faults cli.Faults
	chooseReading(&r, &faults)
	return faults.Err()
}
