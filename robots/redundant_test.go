package robots_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/witness"
	"github.com/robobatch/robobatch/robots"
)

// redundantOf returns the lines that are reported as redundant, and those that are reported as useless.
func redundantOf(r *robots.Report) (redundant, useless []int32) {
	for _, n := range r.Diagnostics {
		switch n.Code {
		case robots.CodeRedundant:
			redundant = append(redundant, n.Line)
		case robots.CodeDuplicate, robots.CodeShadowed:
			useless = append(useless, n.Line)
		default:
		}
	}
	return redundant, useless
}

// without returns a text without the given lines.
func without(text string, lines ...int32) string {
	var left []string
	for i, line := range strings.SplitAfter(text, "\n") {
		if !slices.Contains(lines, int32(i+1)) {
			left = append(left, line)
		}
	}
	return strings.Join(left, "")
}

// withoutLines returns the rules that are not in the given lines.
func withoutLines(rules []robots.Rule, lines ...int32) (all []robots.Rule) {
	for _, r := range rules {
		if !slices.Contains(lines, r.Line) {
			all = append(all, r)
		}
	}
	return all
}

// says returns the verdict of the rules on a path, and whether it is defined.
func says(rules []robots.Rule, path string, d robots.Dialect) [2]bool {
	n := robots.Decide(rules, []byte(path), d)
	return [2]bool{n < 0 || rules[n].Allow, robots.Undefined(rules, n, []byte(path), d)}
}

// tellingPaths returns short paths, and paths that distinguish the patterns of a file.
func tellingPaths(f *robots.File, short []string) []string {
	var s witness.Sides
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			s.Old, s.With = append(s.Old, witness.Claim{Pattern: r.Pattern}), append(s.With, r.Pattern)
		}
	}
	paths := witness.Make([]witness.Sides{s}, witness.Limits{Paths: 400, Bytes: 1 << 20, Steps: 1 << 22}).All
	for _, p := range short {
		paths = append(paths, "/"+p)
	}
	return paths
}

// TestRedundantRules deletes the redundant lines of random files of several groups, one at a time and all together,
// also with the useless lines. No verdict changes for any crawler, on short paths and on those that distinguish the
// patterns.
func TestRedundantRules(t *testing.T) {
	files := 3000
	if testing.Short() {
		files = 400
	}
	rng := rand.New(rand.NewPCG(18, 6))
	short := words("abz/", 4)
	deleted, idle := 0, 0
	for range files {
		text := randomGroups(rng)
		for _, d := range []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex} {
			report := robots.Inspect([]byte(text), d)
			redundant, useless := redundantOf(report)
			if len(redundant)+len(useless) == 0 {
				continue
			}
			deleted, idle = deleted+len(redundant), idle+len(useless)
			ways := [][]int32{redundant, slices.Concat(redundant, useless)}
			for _, line := range ways[1] {
				ways = append(ways, []int32{line})
			}
			paths := tellingPaths(report.File, short)
			for _, name := range []string{"a", "b", "c"} {
				agent := robots.NewAgent(name, d)
				rules, _ := report.File.Select(agent)
				was := make([][2]bool, len(paths))
				for i, path := range paths {
					was[i] = says(rules, path, d)
				}
				for _, lines := range ways {
					few := withoutLines(rules, lines...)
					other, parsed := few, false
					if !slices.ContainsFunc(lines, func(l int32) bool { return slices.Contains(useless, l) }) { // which may be all that separates two groups
						other, _ = robots.Parse([]byte(without(text, lines...)), d).Select(agent)
						parsed = true
					}
					for i, path := range paths {
						if was[i] != says(few, path, d) || parsed && was[i] != says(other, path, d) {
							t.Fatalf("%s: without lines %d, %s of %s is not %v any more:\n%s", d, lines, path, name, was[i], text)
						}
					}
				}
			}
		}
	}
	if deleted < files || idle < files {
		t.Errorf("only %d rules are redundant, and %d never decide", deleted, idle)
	}
	t.Logf("%d redundant rules and %d that never decide in %d files", deleted, idle, files)
}

// randomGroups returns a file of up to three groups.
func randomGroups(rng *rand.Rand) string {
	var text strings.Builder
	for g := range 1 + rng.IntN(3) {
		text.WriteString("User-agent: " + []string{"*", "a", "b"}[rng.IntN(3)] + "\n")
		if rng.IntN(3) == 0 {
			text.WriteString("User-agent: " + []string{"a", "b", "*"}[g] + "\n")
		}
		for range rng.IntN(5) {
			text.WriteString([]string{"Allow: ", "Disallow: ", "Disallow: "}[rng.IntN(3)] + randomPattern(rng) + "\n")
		}
	}
	return text.String()
}

// TestRedundantFound counts how many of the rules that could be deleted are reported.
func TestRedundantFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 6))
	short := words("abz/", 4)
	all, found := 0, 0
	for range 400 {
		var text strings.Builder
		text.WriteString("User-agent: *\n")
		for range 2 + rng.IntN(4) {
			text.WriteString([]string{"Allow: ", "Disallow: "}[rng.IntN(2)] + randomPattern(rng) + "\n")
		}
		d := robots.RFC9309
		report := robots.Inspect([]byte(text.String()), d)
		rules, paths := report.File.Groups[0].Rules, tellingPaths(report.File, short)
		redundant, useless := redundantOf(report)
		for i, r := range rules {
			if slices.Contains(useless, r.Line) || slices.ContainsFunc(paths, func(p string) bool { return says(rules, p, d) != says(withoutLines(rules, r.Line), p, d) }) {
				continue
			}
			covers := func(w robots.Rule) bool {
				return w.Allow == r.Allow && len(w.Pattern) < len(r.Pattern) && !slices.ContainsFunc(paths, func(p string) bool {
					return robots.Matches(r.Pattern, []byte(p)) && !robots.Matches(w.Pattern, []byte(p))
				})
			}
			if !slices.ContainsFunc(withoutLines(rules, useless...), covers) || !slices.ContainsFunc(paths, func(p string) bool { return robots.Decide(rules, []byte(p), d) == i }) {
				continue
			}
			if all++; slices.Contains(redundant, r.Line) {
				found++
			}
		}
	}
	t.Logf("%d of %d are found", found, all)
	if found < all*9/10 || all < 100 {
		t.Errorf("only %d of %d are found", found, all)
	}
}

// TestRedundantGroups has rules that a rule of another group covers, for some or all of their crawlers.
func TestRedundantGroups(t *testing.T) {
	for text, want := range map[string][]int32{
		"user-agent: *\ndisallow: /a\ndisallow: /a/b\nallow: /a/c\n":                             {3},
		"user-agent: *\ndisallow: /a\ndisallow: /a/b\nallow: /*/b\n":                             nil, // it is longer than line 2
		"user-agent: *\ndisallow: /a/b/c\ndisallow: /a/b\ndisallow: /a\n":                        {2, 3},
		"user-agent: *\ndisallow: /a/b\nuser-agent: b\ndisallow: /\nuser-agent: *\ndisallow: /a": nil, // line 2 separates groups
		"user-agent: *\ndisallow: /\nallow: /a\ndisallow: /a/b\ndisallow: /c":                    {5},
		// The Allow is only for b, which the first group binds, too.
		"user-agent: a\nuser-agent: b\ndisallow: /a\ndisallow: /a/b\n\nuser-agent: b\nallow: /a/\n":  nil,
		"user-agent: a\nuser-agent: b\ndisallow: /a\ndisallow: /a/b\n\nuser-agent: b\nallow: /b/\n":  {4},
		"user-agent: *\ndisallow: /*.php\ndisallow: /x/*.php$\ndisallow: /yy.php\nallow: /z/a.htm\n": {3, 4},
		"user-agent: *\ndisallow: /*.php\ndisallow: /x/*.php$\nallow: /x/a.htm\n":                    nil, // both match /x/a.htm.php
		"user-agent: *\nallow: /a/\nallow: /a/index.html\ndisallow: /\n":                             {3},
		"user-agent: *\nallow: /a/i\nallow: /a/index.html\ndisallow: /\n":                            nil, // line 3 allows /a/
	} {
		if got, _ := redundantOf(robots.Inspect([]byte(text), robots.Google)); !slices.Equal(got, want) {
			t.Errorf("%v, want %v:\n%s", got, want, text)
		}
	}
}

// TestUselessGroups has rules that never decide, for one of the crawlers of their group or for all.
func TestUselessGroups(t *testing.T) {
	for text, want := range map[string]string{
		"user-agent: a\nuser-agent: b\ndisallow: /x\n\nuser-agent: a\nallow: /x*\n":                                 "",
		"user-agent: a\nuser-agent: b\ndisallow: /x\n\nuser-agent: a\ndisallow: /x*\n":                              "",
		"user-agent: a\nuser-agent: b\ndisallow: /x\n\nuser-agent: a\nuser-agent: b\nallow: /x*\n":                  "3 shadowed_rule",
		"user-agent: a\nuser-agent: b\ndisallow: /x\n\nuser-agent: b\ndisallow: /x\n\nuser-agent: a\nallow: /x*\n":  "6 duplicate_rule",
		"user-agent: a\nuser-agent: b\ndisallow: /x\n\nuser-agent: b\ndisallow: /x*\n\nuser-agent: a\nallow: /x*\n": "3 shadowed_rule",
		"user-agent: a\nuser-agent: b\ndisallow: /x\nallow: /x\n\nuser-agent: a\ndisallow: /y\n":                    "3 shadowed_rule",
		"user-agent: a\ndisallow: /x\nuser-agent: *\ndisallow: /x\n":                                                "",
		"user-agent: *\nallow: /\n":               "", // written on purpose to allow everything,
		"user-agent: *\ndisallow:\n":              "", // as is this
		"user-agent: *\nallow: /\ndisallow: /x\n": "",
	} {
		var got []string
		for _, n := range robots.Inspect([]byte(text), robots.Google).Diagnostics {
			if n.Code == robots.CodeDuplicate || n.Code == robots.CodeShadowed || n.Code == robots.CodeRedundant {
				got = append(got, fmt.Sprintf("%d %s", n.Line, n.Code))
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q, want %q:\n%s", got, want, text)
		}
	}
}
