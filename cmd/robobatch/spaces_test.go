package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// traps are infinite URL spaces, and the finding about each.
var traps = map[string]struct {
	path func(v *visit) string
	says string // in the finding
	rule string // of it
}{
	"calendar by day": {func(v *visit) string { return v.day0().Format("/calendar/2006/01/02/") }, "an endless calendar below /calendar/: ", "Disallow: /calendar/"},
	"calendar of an event": {func(v *visit) string {
		return v.day0().Format("/en/events/day/2006-01-02") + fmt.Sprintf("?event=%d", v.rng.IntN(9))
	}, "an endless calendar below /en/events/: ", "Disallow: /en/events/"},
	"day in the query": {func(v *visit) string {
		return fmt.Sprintf("/calendar?date=%s&view=%d", v.day0().Format(time.DateOnly), v.rng.IntN(3))
	}, "an endless calendar below /: ", ""},
	"day after a semicolon": {func(v *visit) string {
		return fmt.Sprintf("/calendar?view=%d;date=%s", v.rng.IntN(3), v.day0().Format(time.DateOnly))
	}, "an endless calendar below /: ", ""},
	"jsessionid": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html;jsessionid=%016X%016X", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint64())
	}, "URLs with session ids below /shop/: ", "Disallow: /*;jsessionid="},
	"PHPSESSID": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html?PHPSESSID=%016x%08x", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint32())
	}, "URLs with session ids below /shop/: ", "Disallow: /*?PHPSESSID="},
	"sid after a semicolon": {func(v *visit) string {
		return fmt.Sprintf("/forum/topic.php?sid=%016x%016x;t=%d", v.rng.Uint64(), v.rng.Uint64(), v.rng.IntN(300))
	}, "URLs with session ids below /forum/: ", "Disallow: /*?sid="},
	"ASP.NET": {func(v *visit) string {
		return fmt.Sprintf("/(S(%016x%08x))/shop/%d.aspx", v.rng.Uint64(), v.rng.Uint32(), v.rng.IntN(300))
	}, "URLs with session ids below /: ", "Disallow: /*(S("},
	"session ids in paths": {func(v *visit) string {
		return fmt.Sprintf("/s/%016x%016x/shop/%d.html", v.rng.Uint64(), v.rng.Uint64(), v.rng.IntN(300))
	}, "URLs with session ids below /s/: ", "Disallow: /s/"},
	"session ids below a directory": {func(v *visit) string {
		return fmt.Sprintf("/shop/visit/%016x%08x/%d.html", v.rng.Uint64(), v.rng.Uint32(), v.rng.IntN(300))
	}, "URLs with session ids below /shop/visit/: ", "Disallow: /shop/visit/"},
	"a segment again": {func(v *visit) string {
		return fmt.Sprintf("/blog/%d%s/logo.html", v.rng.IntN(9000), strings.Repeat("/images", 3+v.rng.IntN(9)))
	}, "paths with repeating segments below /blog/: ", ""},
	"segments again": {func(v *visit) string {
		return fmt.Sprintf("%s/%d.html", strings.Repeat("/shop/sale", 2+v.rng.IntN(7)), v.rng.IntN(9000))
	}, "paths with repeating segments below /shop/sale/: ", "Disallow: /shop/sale/"},
	"duplicates": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html?ref=%d", v.rng.IntN(300), v.rng.IntN(20))
	}, "page variants with `ref=`: ", "Disallow: /*?ref="},
	"filters of many pages": {func(v *visit) string {
		return fmt.Sprintf("/shop/%d.html?%s", v.rng.IntN(60), v.filters("&", "="))
	}, "page variants with `", "Disallow: /*?size= Disallow: /*?brand= Disallow: /*?color="}, // as common as each other
}

// filters returns some of four filters with values, in any order.
func (v *visit) filters(between, is string) string {
	all := []string{"color" + is + []string{"red", "green", "blue", "black"}[v.rng.IntN(4)], fmt.Sprintf("size%s%d", is, 36+v.rng.IntN(5)), fmt.Sprintf("brand%sb%d", is, v.rng.IntN(5)), "sort" + is + "price"}
	v.rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	return strings.Join(all[v.rng.IntN(9)/4:], between)
}

// spaceLines returns the number of lines in logs with infinite URL spaces: 100,000, or 30,000 with -short.
func spaceLines() int {
	if testing.Short() {
		return 30_000
	}
	return 100_000
}

// TestNoSpaces checks that no infinite URL space is found in large logs of sites whose pages only look like one.
func TestNoSpaces(t *testing.T) {
	for name, path := range map[string]func(v *visit) string{
		"a repository": func(v *visit) string {
			return fmt.Sprintf("/team/repo/blob/%016x%016x%08x/src/f%d.go", v.rng.Uint64(), v.rng.Uint64(), v.rng.Uint32(), v.rng.IntN(300))
		},
		"commits": func(v *visit) string {
			return fmt.Sprintf("/team/repo/commit/%016x%016x%08x", v.rng.Uint64(), v.rng.Uint64(), v.rng.Uint32())
		},
		"pages beside ids": func(v *visit) string {
			return fmt.Sprintf("/shop/%016x%016x/%d.html", v.rng.Uint64(), v.rng.Uint64(), v.rng.IntN(300))
		},
		"documents": func(v *visit) string {
			return fmt.Sprintf("/doc/%08x-1f2e-4a3b-9c4d-%012x", v.rng.Uint32(), v.rng.Uint64()>>16)
		},
		"a forum": func(v *visit) string {
			return fmt.Sprintf("/viewtopic.php?f=%d&t=%d", v.rng.IntN(20), v.rng.IntN(9000))
		},
		"variants": func(v *visit) string {
			return fmt.Sprintf("/shop/%d.html?color=%d&size=%d", v.rng.IntN(900), v.rng.IntN(2), v.rng.IntN(3))
		},
		"a repository after semicolons": func(v *visit) string {
			return fmt.Sprintf("/git?p=repo.git;a=blob;f=f%d.go;hb=%016x%016x%08x", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint64(), v.rng.Uint32())
		},
		"brackets": func(v *visit) string { return fmt.Sprintf("/math/(S(n%d))/%d.html", v.rng.IntN(90), v.rng.IntN(300)) },
		"teams":    func(v *visit) string { return fmt.Sprintf("/team-%d/season-%d/", v.rng.IntN(90), v.rng.IntN(30)) },
		"locales": func(v *visit) string {
			return fmt.Sprintf("/de-%c%c/city-%d", 'a'+v.rng.IntN(9), 'a'+v.rng.IntN(9), v.rng.IntN(90))
		},
		"downloads": func(v *visit) string {
			return fmt.Sprintf("/releases/v%d.%d/linux/amd64/tool.tar.gz", v.rng.IntN(40), v.rng.IntN(90))
		},
	} {
		t.Run(name, func(t *testing.T) { noFindings(t, spaceLines(), path) })
	}
	for name, path := range values {
		t.Run(name, func(t *testing.T) {
			noFindings(t, 30_000, path)
		})
	}
}

// values are sites whose pages are values of a parameter from a finite list, or dates in a limited range.
var values = map[string]func(v *visit) string{
	"topics": func(v *visit) string {
		if v.rng.IntN(4000) == 0 {
			v.status = 404
			return "/viewtopic.php" // a scanner's
		}
		return fmt.Sprintf("/viewtopic.php?t=%d", v.rng.IntN(9000))
	},
	"topics of forums": func(v *visit) string {
		if v.rng.IntN(9) == 0 {
			return "/index.php"
		}
		n := v.rng.IntN(9000)
		return fmt.Sprintf("/index.php?board=%d&topic=%d", n%20, n)
	},
	"posts": func(v *visit) string {
		return []string{"/", fmt.Sprintf("/?cat=%d", v.rng.IntN(40)), fmt.Sprintf("/?p=%d", 1+v.rng.IntN(4000))}[min(2, v.rng.IntN(30))]
	},
	"pages by id": func(v *visit) string {
		return []string{"/index.php", fmt.Sprintf("/index.php?id=%d", v.rng.IntN(3000))}[min(1, v.rng.IntN(9))]
	},
	"a wiki": func(v *visit) string {
		return []string{"/index.php", fmt.Sprintf("/index.php?title=Page_%d", v.rng.IntN(3000))}[min(1, v.rng.IntN(9))]
	},
	"pages of a list": func(v *visit) string {
		return []string{"/news", fmt.Sprintf("/news?page=%d", 1+v.rng.IntN(900))}[min(1, v.rng.IntN(9))]
	},
	"pages of categories, in any order": func(v *visit) string {
		all := []string{fmt.Sprintf("category=%d", v.rng.IntN(30)), fmt.Sprintf("page=%d", 1+v.rng.IntN(40))}
		n := v.rng.IntN(2)
		return "/list?" + all[n] + "&" + all[1-n]
	},
	"pages of many lists": func(v *visit) string {
		return []string{fmt.Sprintf("/news/%d", v.rng.IntN(30)), fmt.Sprintf("/news/%d?page=%d", v.rng.IntN(30), 1+v.rng.IntN(90))}[min(1, v.rng.IntN(9))]
	},
	"stories":  func(v *visit) string { return "/story?sid=" + v.fixedID() },
	"talks":    func(v *visit) string { return fmt.Sprintf("/talk/%d?session=%s", v.rng.IntN(30), v.fixedID()) },
	"sessions": func(v *visit) string { return fmt.Sprintf("/talk/%d?SessionID=%06d", v.rng.IntN(30), v.rng.IntN(300)) },
	"surveys":  func(v *visit) string { return fmt.Sprintf("/survey?sid=%016x%016x", v.rng.Uint64(), v.rng.Uint64()) },
	"bonds": func(v *visit) string {
		return fmt.Sprintf("/bonds/%d-%02d-15", 2026+v.rng.IntN(30), 1+v.rng.IntN(12))
	},
	"bonds of a year": func(v *visit) string {
		return fmt.Sprintf("/bonds?maturity=%d-%02d-%02d", 2026+v.rng.IntN(30), 1+v.rng.IntN(12), 1+14*v.rng.IntN(2))
	},
}

// fixedID returns one of 300 ids that all clients request.
func (v *visit) fixedID() string {
	n := uint64(1 + v.rng.IntN(300))
	return fmt.Sprintf("%016x%016x", n*0x9E3779B97F4A7C15, n*0xBF58476D1CE4E5B9)
}

// noFindings makes a log with a number of lines, a fourth of them for the given paths, and checks that its report has
// no findings.
func noFindings(t *testing.T, lines int, path func(v *visit) string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	log := traffic{lines: lines, days: 14, client: func(v *visit) {
		if v.path != "/robots.txt" && v.rng.IntN(4) == 0 {
			v.status = 200
			v.path = path(v)
		}
	}}
	log.write(t, dir)
	if kinds, said := findings(t, dir, "-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example"); len(kinds) > 0 {
		t.Errorf("found are %q:\n%s", kinds, said)
	}
}

// day0 returns a random day within 164 years, the first of which begins two years from now.
func (v *visit) day0() time.Time { return begin.AddDate(2, 0, v.rng.IntN(60_000)) }

// groupPattern matches the groups of robots.txt that a finding on the page proposes as its remedy.
var groupPattern = regexp.MustCompile(`The groups as a whole</summary>\s*<pre[^>]*>([^<]*)</pre>`)

// TestSpaces puts each kind of infinite URL space into a large log. It must be the only finding, and the proposed
// rule may disallow hardly any other page.
func TestSpaces(t *testing.T) {
	for name, trap := range traps {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			var planted, others []string
			log := traffic{lines: spaceLines(), days: 14, client: func(v *visit) {
				if v.robot && v.path != "/robots.txt" && v.rng.IntN(4) == 0 {
					v.path, v.status = trap.path(v), 200
					planted = append(planted, v.path)
					return
				}
				others = append(others, v.path)
			}}
			log.write(t, dir)
			_, said := findings(t, dir, "-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example")
			if strings.Count(said, "\n") != 1 || !strings.Contains(said, trap.says) || !strings.Contains(said, "of the requests by ") {
				t.Fatalf("found are %q, want one that says %q", said, trap.says)
			}
			page, err := os.ReadFile(filepath.Join(dir, "report.html"))
			if err != nil {
				t.Fatal(err)
			}
			var rules []string // that the remedy adds
			if m := groupPattern.FindSubmatch(page); m != nil {
				for line := range strings.Lines(html.UnescapeString(string(m[1]))) {
					if line = strings.TrimSpace(line); strings.HasPrefix(line, "Disallow:") && !strings.Contains(usualText, line) {
						rules = append(rules, line)
					}
				}
			}
			rule := strings.Join(rules, "\n")
			if first, _, _ := strings.Cut(rule, "\n"); !strings.Contains(trap.rule+" ", first+" ") || (first == "") != (trap.rule == "") {
				t.Errorf("%q, want %q", rule, trap.rule)
			}
			text := robots.Inspect([]byte("User-agent: *\n"+rule+"\n"), robots.RFC9309)
			bound, _ := text.File.Select(robots.NewAgent("Googlebot", robots.RFC9309))
			closed := map[bool]int{}
			for isPlanted, paths := range map[bool][]string{true: planted, false: others} {
				for _, path := range paths {
					normal, _ := robots.RFC9309.Path([]byte(path), nil)
					if robots.Decide(bound, normal, robots.RFC9309) >= 0 {
						closed[isPlanted]++
					}
				}
			}
			if closed[false]*100 > closed[true] || closed[true] > 0 != (rule != "") {
				t.Errorf("%q closes %d of the trap, and %d others", rule, closed[true], closed[false])
			}
		})
	}
}
