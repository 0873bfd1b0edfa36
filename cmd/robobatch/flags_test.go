package main

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

func TestFlagMessages(t *testing.T) {
	for _, tt := range []struct{ command, arguments, want string }{
		{"", "-dialct google", "unknown flag -dialct: did you mean -dialect?"},
		{"", "--form=csv", "unknown flag -form: did you mean -format?"},
		{"", "-output x", "unknown flag -output: did you mean -out?"},
		{"", "-nosuch", "unknown flag -nosuch"},
		{"", "-rounds 3", "-rounds is a flag of robobatch bench, not of robobatch"},
		{"rules", "-in x", "-in is a flag of robobatch, robobatch diff, robobatch report, robobatch coverage, robobatch conduct and robobatch bench, not of robobatch rules"},
		{"compile", "-as-of now", "-as-of is a flag of robobatch, robobatch explain, robobatch lint, robobatch check, robobatch diff, robobatch report, robobatch coverage, robobatch census, robobatch conduct, robobatch rules, robobatch pipe and robobatch bench, not of robobatch compile"},
		{"", "-workers many", `-workers: "many" is not an integer: write one in digits, such as 4`},
		{"bench", "-rounds=2.5", `-rounds: "2.5" is not an integer: write one in digits, such as 4`},
		{"", "-limit 99999999999999999999", `-limit: "99999999999999999999" is out of range: write a number with fewer digits`},
		{"", "-quiet=maybe", `-quiet: "maybe" is neither true nor false: write only the flag`},
		{"", "-out", "-out needs a value: write -out file"},
		{"", "-im urls.txt", "unknown flag -im: did you mean -in?"},
		{"", "-rules b", "-rules: given twice: put all robots.txt files into one directory"},
		{"", "-=x", "bad flag syntax: -=x"},
	} {
		p := commandLine()
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
		p := commandLine()
		if err := p.Parse(p.Command(""), []string{argument}); !errors.Is(err, cli.ErrHelp) {
			t.Errorf("%s gives %v", argument, err)
		}
	}
}

// TestFlagsAreFound checks that each flag is suggested if a letter in its middle is missing, unless the result is
// another flag.
func TestFlagsAreFound(t *testing.T) {
	p := commandLine()
	for _, c := range p.Commands {
		for _, f := range c.Flags {
			typo := f.Name[:len(f.Name)/2] + f.Name[len(f.Name)/2+1:]
			if len(typo) < 3 || c.Flag(typo) != nil {
				continue
			}
			if err := p.Parse(&c, []string{"-" + typo}); err == nil || !strings.HasPrefix(err.Error()+"\n", "unknown flag -"+typo+": did you mean -"+f.Name+"?\n") {
				t.Errorf("%s -%s: %v", p.Title(&c), typo, err)
			}
		}
	}
}

// TestTable checks that each command has each flag only once, that the doc of the flag consists of sentences, the
// first of which is short enough for the list of flags, and that the doc names all values of a flag with few values.
func TestTable(t *testing.T) {
	word := regexp.MustCompile("^[a-z]+$")
	for _, c := range commandLine().Commands {
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

// TestValues checks, for each flag with a fixed list of values, that its command accepts each of them, and that the
// error about any other value lists them. No command runs, because the rules in the arguments do not exist.
func TestValues(t *testing.T) {
	std := console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	more := map[string]string{ // other flags that a value needs
		"-yandex-empty-allow": "-dialect yandex", "-unknown-agents": "-agent-from-log", "-partition-mode": "-partition-by agent -out x",
		"-csv": "-out-format csv", "-on-error": "-out x/", "-what-if": "-report x.html", "-out-format": "-out x",
	}
	checked := 0
	faults := func(name, flag, value string) string {
		p, all := newProgram()
		arguments := []string{"-rules", "nosuch"}
		i := slices.IndexFunc(all, func(c flags.Command) bool { return c.Name == name })
		for needed, text := range map[string]string{"in": "nosuch", "expect": "nosuch", "old": "nosuch", "columns": "url"} {
			if p.Commands[i].Flag(needed) != nil {
				arguments = append(arguments, "-"+needed, text)
			}
		}
		if p.Commands[i].Flag("report") != nil || flag != "-what-if" {
			arguments = append(arguments, strings.Fields(more[flag])...)
		}
		var faults cli.Faults
		faults.Add("", p.Parse(&p.Commands[i], append(append(arguments, flag), strings.Fields(value)...)))
		_, err := all[i].Plan(std, faults)
		if _, ok := errors.AsType[*cli.UsageError](err); !ok {
			return ""
		}
		return err.Error()
	}
	for _, c := range commandLine().Commands {
		for _, f := range c.Flags {
			if f.Values == nil || f.List {
				continue
			}
			checked++
			refusal := faults(c.Name, "-"+f.Name, "nosuch")
			if !strings.Contains(refusal, "-"+f.Name+": ") {
				t.Errorf("%s -%s takes any value: %s", c.Name, f.Name, refusal)
			}
			for _, v := range f.Values {
				if f.Name == "compression" && v == "lz4" {
					v = "lz4 -out-format arrow"
				}
				if text := faults(c.Name, "-"+f.Name, v); strings.Contains(text, "-"+f.Name+": ") {
					t.Errorf("%s -%s %s: %s", c.Name, f.Name, v, text)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("%d flags are checked", checked)
	}
	_, err := robots.ParseDialect("nosuch")
	_, list, _ := strings.Cut(err.Error(), "use one of ")
	if got, want := slices.Sorted(slices.Values(robots.Dialects())), slices.Sorted(slices.Values(strings.Split(list, ", "))); !slices.Equal(got, want) {
		t.Errorf("dialects %q, there are %q", got, want)
	}
	if _, err := flags.ExpandAgents(flags.AgentNames()); err != nil {
		t.Errorf("-agent: %v", err)
	}
	kinds := strings.Join(output.WhereKinds(), ",")
	if w, err := output.ParseWhere(kinds); err != nil || w.String() != kinds {
		t.Errorf("-where: %s, %v", w, err)
	}
}
