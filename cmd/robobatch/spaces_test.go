package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// traps are URLs without end, and the finding about each.
var traps = map[string]struct {
	path  func(v *visit) string
	says  string // in the first finding
	rules int    // beside it; each closes nothing but the trap, and all of them close all of it
}{
	"calendar by day":   {func(v *visit) string { return v.day0().Format("/calendar/2006/01/02/") }, "a calendar without end of https://www.shop.example, and bingbot 2", 6},
	"calendar by month": {func(v *visit) string { return v.day0().Format("/en/events/month/2006-01") }, "a calendar without end of", 6},
	"day in the query": {func(v *visit) string {
		return fmt.Sprintf("/calendar?date=%s&view=%d", v.day0().Format(time.DateOnly), v.rng.IntN(3))
	}, "a calendar without end, by “date”, of", 12},
	"month in the query": {func(v *visit) string {
		return fmt.Sprintf("/cal.php?month=%d&year=%d&cat=%d", 1+v.rng.IntN(12), 2028+v.rng.IntN(60), v.rng.IntN(5))
	}, "a calendar without end, by “year”, of", 16},
	"jsessionid": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html;jsessionid=%016X%016X", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint64())
	}, "URLs with session ids, by “jsessionid”, of", 1},
	"PHPSESSID": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html?PHPSESSID=%016x%08x", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint32())
	}, "URLs with session ids, by “PHPSESSID”, of", 2},
	"sid": {func(v *visit) string {
		return fmt.Sprintf("/forum/topic.php?t=%d&sid=%016x%016x", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint64())
	}, "URLs with session ids, by “sid”, of", 2},
	"a segment again": {func(v *visit) string {
		return fmt.Sprintf("/blog/%d%s/logo.html", v.rng.IntN(100), strings.Repeat("/images", 3+v.rng.IntN(9)))
	}, "paths whose segments come again and again, by “/images”, of", 2},
	"segments again": {func(v *visit) string {
		return fmt.Sprintf("%s/%d.html", strings.Repeat("/shop/sale", 2+v.rng.IntN(7)), v.rng.IntN(90))
	}, "paths whose segments come again and again, by “/shop/sale”, of", 2},
	"Clean-param": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html?ref=%d", v.rng.IntN(300), v.rng.IntN(20))
	}, "duplicates that Clean-param names, by “ref”, of", 2},
}

// day0 returns a day of the forty years from two years on.
func (v *visit) day0() time.Time { return begin.AddDate(2, 0, v.rng.IntN(14_000)) }

// rulePattern is a rule on the page.
var rulePattern = regexp.MustCompile(`<div>(Disallow: [^<]*)</div>`)

// TestSpaces plants each kind of URLs without end in a log of 100,000 lines: it is the first finding, with rules that close
// the trap and no other page, and nothing else is found.
func TestSpaces(t *testing.T) {
	for name, trap := range traps {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			var planted, others []string
			log := traffic{lines: 100_000, days: 14, captures: []sent{{-5, usualText + "Clean-param: ref /shop/\n"}}, client: func(v *visit) {
				if v.robot && v.path != "/robots.txt" && v.rng.IntN(4) == 0 {
					v.path, v.status = trap.path(v), 200
					planted = append(planted, v.path)
				} else {
					others = append(others, v.path)
				}
			}}
			log.write(t, dir)
			kinds, said := findings(t, dir, "-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example")
			if !slices.Equal(kinds, []string{"endless"}) || !strings.Contains(said, trap.says) || !strings.Contains(said, "Googlebot spent 2") {
				t.Fatalf("found are %q, want one that says %q:\n%s", kinds, trap.says, said)
			}
			page, err := os.ReadFile(filepath.Join(dir, "report.html"))
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, m := range rulePattern.FindAllStringSubmatch(string(page[strings.Index(string(page), `id="spaces"`):]), -1) {
				rules = append(rules, html.UnescapeString(m[1]))
			}
			if len(rules) != trap.rules {
				t.Errorf("%d rules, want %d: %q", len(rules), trap.rules, rules)
			}
			text := robots.Inspect([]byte("User-agent: *\n"+strings.Join(rules, "\n")+"\n"), robots.RFC9309)
			bound, _ := text.File.Select(robots.NewAgent("Googlebot", robots.RFC9309))
			for want, paths := range map[bool][]string{true: planted, false: others} {
				for _, path := range paths {
					normal, _ := robots.RFC9309.Path([]byte(path), nil)
					if denied := robots.Decide(bound, normal, robots.RFC9309) >= 0; denied != want {
						t.Fatalf("%q close %s: %t, want %t", rules, path, denied, want)
					}
				}
			}
		})
	}
}
