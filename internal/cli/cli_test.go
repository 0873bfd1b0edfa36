package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A bakery holds the variables that the flags of the tests' program set.
type bakery struct {
	flour  string
	sizes  []string
	loaves int
	warm   bool
}

// program returns a small program with a command, and the variables that its flags set.
func program() (*Program, *bakery) {
	var b bakery
	flour := Flag{Section: "Input", Name: "flour", Arg: "file", Doc: "The flour to use. It is\n\tground.", Files: true, Needed: "name a sack", Set: Once(&b.flour, "mix it before")}
	sizes := Flag{Section: "Input", Name: "sizes", Arg: "list", Doc: "Sizes.", Values: []string{"small", "large"}, List: true, Set: Words(&b.sizes)}
	loaves := Flag{Section: "Run", Name: "loaves", Arg: "n", Doc: "Loaves to bake.", Default: "2", Set: Int(&b.loaves)}
	list := Flag{Section: "Run", Name: "list", Doc: "List kinds.", Set: Instead}
	warm := Flag{Section: "Run", Name: "warm", Doc: "Sell it *warm*.", Set: Bool(&b.warm)}
	help := Flag{Section: "Run", Name: "h", Doc: "Print this.", Set: Help}
	stray := func(string) string { return "bread has no names" }
	return &Program{
		Name: "bake", About: "bake bread", Intro: "Flags.",
		Gone: map[string]string{"yeast": "use -flour", "sell sizes": "bread is sold whole"},
		Commands: []Command{
			{Intro: "bake bakes.\n\n    bake -flour rye\n", Flags: []Flag{flour, sizes, loaves, help}, Rest: "Exit codes: 0 done.", Unexpected: stray},
			{Name: "sell", Task: "Shop", About: "sell bread", Intro: "bake sell sells.", Flags: []Flag{flour, warm, list, help}, Unexpected: stray},
		},
		Topics: []Topic{{"rye", "a grain", func() string { return "Rye is a grain.\n" }}},
	}, &b
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ command, arguments, want string }{
		{"", "-flour rye --loaves=3 -sizes small,large -sizes tiny --", ""},
		{"sell", "-flour=rye -warm=false", ""},
		{"", "", "-flour is missing: name a sack"},
		{"", "-flour=", "-flour is missing: name a sack"},
		{"", "-flour rye bun", `unexpected argument "bun": bread has no names`},
		{"", "-flour rye bun -loaves=3 cake", `unexpected argument "bun": bread has no names`},
		{"", "-flour rye -- -loaves", `unexpected argument "-loaves": bread has no names`},
		{"", "-", `unexpected argument "-": bread has no names`},
		{"", "-flour rye -loavs 3", "unknown flag -loavs: did you mean -loaves?"},
		{"", "-flour rye -oven 3", "unknown flag -oven"},
		{"", "-flour rye -warm bun", "-warm is a flag of bake sell, not of bake\nunexpected argument \"bun\": bread has no names"},
		{"", "-flour", "-flour needs a value: write -flour file"},
		{"", "-flour a -flour b", "-flour: given twice: mix it before"},
		{"", "-flour rye -loaves many", `-loaves: "many" is not an integer: write one in digits, such as 4`},
		{"", "-flour rye -loaves 99999999999999999999", `-loaves: "99999999999999999999" is out of range: write a number with fewer digits`},
		{"sell", "-flour rye -warm=hot", `-warm: "hot" is neither true nor false: write only the flag`},
		{"", "-flour rye ---loaves", "bad flag syntax: ---loaves"},
		{"", "-flor rye", "unknown flag -flor: did you mean -flour?"},
		{"", "-flour rye -yeast 3", "flag -yeast was removed: use -flour"},
		{"sell", "-flour rye -sizes=2", "flag -sizes was removed: bread is sold whole"},
		{
			"sell", "-oven 3 -loaves=2 -list=maybe -warm=hot", "unknown flag -oven\n-loaves is a flag of bake, not of bake sell\n" +
				"-list: \"maybe\" is neither true nor false: write only the flag\n-warm: \"hot\" is neither true nor false: write only the flag\n" +
				"-flour is missing: name a sack",
		},
	} {
		p, _ := program()
		err := p.Parse(p.Command(tt.command), strings.Fields(tt.arguments))
		if tt.want == "" && err == nil {
			continue
		}
		if _, ok := errors.AsType[*UsageError](err); !ok || err.Error() != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.command, tt.arguments, err, tt.want)
		}
	}
	p, b := program()
	if err := p.Parse(p.Command(""), []string{"-flour", "rye", "-sizes", "small, large", "-sizes=tiny"}); err != nil {
		t.Fatal(err)
	}
	if b.flour != "rye" || b.loaves != 2 || strings.Join(b.sizes, "|") != "small|large|tiny" {
		t.Errorf("the flags set %+v", b)
	}
	for arguments, want := range map[string]string{
		"-list": ErrInstead.Error(), "-list bun": ErrInstead.Error(), "-list -flour": "-flour needs a value: write -flour file",
		"-list=false -flour rye": "", "-list -h": ErrHelp.Error(), "-oven 3 -h": ErrHelp.Error(),
	} {
		p, _ = program()
		if err := p.Parse(p.Command("sell"), strings.Fields(arguments)); fmt.Sprint(err) != cmp.Or(want, "<nil>") {
			t.Errorf("%s gives %v, want %s", arguments, err, want)
		}
	}
	for _, argument := range []string{"-h", "--help", "-help", "-h=false", "-h=yes", "--h=", "-help=2"} {
		if err := p.Parse(p.Command("sell"), []string{argument}); !errors.Is(err, ErrHelp) {
			t.Errorf("%s gives %v", argument, err)
		}
	}
}

func TestHelp(t *testing.T) {
	p, _ := program()
	const want = `bake bakes.

    bake -flour rye

Shop
  sell           sell bread

Flags of the main job
  -flour file    The flour to use.
  -sizes list    Sizes.
  -loaves n      Loaves to bake.
  -h             Print this.

bake -h all prints details and 0 more flags. bake help prints this, or help on a command or on rye,
man, bash, zsh, fish.
`
	for word, want := range map[string]string{"": want, "rye": "Rye is a grain.\n", "man": p.Man(), "fish": p.Fish()} {
		if got, err := p.HelpOn(word); got != want || err != nil {
			t.Errorf("help %s prints\n%s\n%v", word, got, err)
		}
	}
	if _, err := p.HelpOn("sel"); err == nil || !strings.HasSuffix(err.Error(), "use one of sell, rye, man, bash, zsh, fish; did you mean sell?") {
		t.Errorf("help sel: %v", err)
	}
}

func TestMarkdown(t *testing.T) {
	p, _ := program()
	const want = "# Flags of bake\n\nFlags.\n" +
		"\n## Input\n\n### `-flour file`\n\nThe flour to use. It is ground.\n\nAll commands.\n" +
		"\n### `-sizes list`\n\nSizes.\n\n`bake`.\n" +
		"\n## Run\n\n### `-loaves n`\n\nLoaves to bake. Default: 2.\n\n`bake`.\n" +
		"\n### `-h`\n\nPrint this.\n\nAll commands.\n" +
		"\n### `-warm`\n\nSell it \\*warm\\*.\n\n`sell`.\n" +
		"\n### `-list`\n\nList kinds.\n\n`sell`.\n"
	if got := p.Markdown(); got != want {
		t.Errorf("%s", got)
	}
}

// TestMarkdownVariants checks that a flag with several texts has each sentence only once. Sentences that all texts
// share come last, unless all texts begin with one.
func TestMarkdownVariants(t *testing.T) {
	flag := func(doc string) []Flag { return []Flag{{Name: "in", Arg: "file", Section: "Input", Doc: doc}} }
	p := Program{Name: "bake", Commands: []Command{
		{Flags: flag("Flour. May be repeated.")},
		{Name: "sell", Flags: flag("Bread. It is warm. May be repeated.")},
		{Name: "buy", Flags: flag("May be repeated.")},
		{Name: "give", Flags: flag("Bread. It is warm. May be repeated.")},
	}}
	const want = "### `-in file`\n\n`bake`: Flour.\n\n`sell`, `give`: Bread. It is warm.\n\n`buy`.\n\nAll: May be repeated.\n"
	if got := p.Markdown(); !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	p.Commands = []Command{{Flags: flag("Food. Sour. Once.")}, {Name: "sell", Flags: flag("Food. Once.")}}
	if got := p.Markdown(); !strings.HasSuffix(got, "### `-in file`\n\nFood. Once.\n\n`bake`: Sour.\n\n`sell`.\n") {
		t.Errorf("%s", got)
	}
}

func TestRoff(t *testing.T) {
	if got, want := escapeRoff(".a -b\n'c \"d\\"), "\\&.a \\-b\n\\&'c \\(dqd\\e"; got != want {
		t.Errorf("roff gives %q, want %q", got, want)
	}
}

// TestParts checks that only errors made by [errors.Join] are split into parts, and that a fault belongs to its flag.
func TestParts(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	if got := Parts(errors.Join(a, errors.Join(b, c))); len(got) != 3 {
		t.Errorf("%d parts: %v", len(got), got)
	}
	both := Usage("%w of %w", a, b)
	if got := Parts(both); len(got) != 1 || Parts(nil) != nil {
		t.Errorf("%d parts: %v", len(got), got)
	}
	var faults Faults
	faults.Add("x", errors.Join(a, b))
	faults.Add("y", nil)
	faults.Add("", c)
	if got := faults.Err().Error(); got != "-x: a\n-x: b\nc" || faults.None() {
		t.Errorf("faults %q", got)
	}
}

// TestFill checks that filling changes nothing but spaces.
func TestFill(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"a  b":                            "a b",
		strings.Repeat("word ", 20):       strings.Repeat("word ", 13) + "word\n" + strings.Repeat("word ", 5) + "word",
		"a " + strings.Repeat("x", 100):   "a\n" + strings.Repeat("x", 100),
		strings.Repeat("x", 100) + " end": strings.Repeat("x", 100) + "\nend",
	} {
		if got := Fill(text, 72); got != want {
			t.Errorf("Fill(%q) = %q, want %q", text, got, want)
		}
	}
}
