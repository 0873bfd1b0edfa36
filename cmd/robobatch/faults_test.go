package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fives are logs with five faults each, and the findings about them, the worst first.
var fives = map[string]struct {
	traffic
	want []string // each is in a finding, in their order
}{
	"shop": {
		traffic{
			captures: []sent{{-5, usualText + "\nUser-agent: bingbot\nDisallow: /shop/\n"}, {9, closedText}, {16, usualText + "\nUser-agent: bingbot\nDisallow: /shop/\n"}},
			client: func(v *visit) {
				v.skip = v.robot && v.day > 9 && v.day < 16 && v.path != "/robots.txt" || v.agent == bingbot && strings.HasPrefix(v.path, "/shop/")
				if v.robot && v.path != "/robots.txt" && v.rng.IntN(3) == 0 {
					v.path, v.skip = v.day0().Format("/calendar/2006/01/02/"), v.day > 9 && v.day < 16
				}
				failSome(v, 18, 503, 4)
			},
			more: violations,
		},
		[]string{
			"closed: The robots.txt shut out Googlebot and bingbot for a time: its line 2 was Disallow: /, which closes the whole site.",
			"closed-path: bingbot may not fetch /shop/",
			"failing: ", "endless: Googlebot spent 3", "violated: GPTBot fetched what robots.txt disallows to it: ",
		},
	},
	"forum": {
		traffic{
			captures: []sent{{-5, strings.Replace(usualText, "www.", "staging.", 1)}},
			client: func(v *visit) {
				v.skip = v.agent == bingbot && v.day > 19
				switch {
				case !v.robot || v.path == "/robots.txt":
				case v.agent == googlebot && v.rng.IntN(2) == 0:
					v.path = fmt.Sprintf("/forum/topic.php?t=%d&sid=%016x%016x", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint64())
				case v.agent == gptbot:
					failSome(v, 0, 301, 2)
				}
			},
			more: impostors, args: []string{"-ranges", "ranges"},
		},
		[]string{
			"foreign: The robots.txt seems to be for a test site: its sitemap in line 6 is on staging.shop.example.",
			"stopped: bingbot stopped: ", "endless: Googlebot spent ", "redirected: 54.1% of the requests of GPTBot were answered by a redirect (3xx), most often 301", "faked: Clients that are not Googlebot use that name;",
		},
	},
	"news": {
		traffic{
			captures: []sent{{-5, usualText + "Disallow: /old1/\nDisallow: /old2/\nDisallow: /old3/\nDisallow: /old4/\n"}, {20, "<!DOCTYPE html>\n<html><body>Sorry</body></html>\n"}},
			client: func(v *visit) {
				v.skip = v.agent == googlebot && v.day > 20 && v.rng.IntN(10) > 0
				switch {
				case !v.robot || v.path == "/robots.txt":
				case v.rng.IntN(4) == 0:
					v.path = fmt.Sprintf("/list/%d%s/", v.rng.IntN(40), strings.Repeat("/more", 3+v.rng.IntN(8)))
				case v.agent == bingbot && v.rng.IntN(5) < 3:
					v.status = 404
				}
			},
		},
		[]string{
			"misplaced: What the site sends as robots.txt is an HTML page, so crawlers find no rules in it and may fetch everything.",
			"slowed: Googlebot came much less: ", "endless: Googlebot spent 2", "missing: 46.2% of the requests of bingbot found no page", "idle: In the robots.txt 5 of 7 rules matched none",
		},
	},
}

// TestFiveFaults plants five faults in each of three logs of four weeks. The report names the kind of each, and the worst
// is the first. It finds nothing else: the change of a robots.txt is no finding beside the one about its new text.
func TestFiveFaults(t *testing.T) {
	for name, log := range fives {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			log.lines, log.days = 120_000, 28
			log.write(t, dir)
			writeRanges(t)
			_, said := findings(t, dir, append([]string{"-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example", "-as-of", "log"}, log.args...)...)
			lines := strings.Split(strings.TrimSpace(said), "\n")
			if len(lines) != len(log.want) {
				t.Fatalf("%d are found, want %d:\n%s", len(lines), len(log.want), said)
			}
			for i, want := range log.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("finding %d is %q, want %q", i+1, lines[i], want)
				}
			}
		})
	}
}

// TestStaleLists holds that nobody is accused of using a name where lists of addresses are too old to tell.
func TestStaleLists(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	log := traffic{lines: 100_000, days: 14, more: func(rng *rand.Rand) []visit { return append(violations(rng), impostors(rng)...) }}
	log.write(t, dir)
	writeRanges(t)
	for prefix := range lists {
		name := filepath.Join("ranges", prefix+".json")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), "2026-03-08", "2024-03-08", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds, said := findings(t, dir, "-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example", "-as-of", "log", "-ranges", "ranges")
	if strings.Join(kinds, " ") != "violated" || !strings.Contains(said, "300 may have come from others: the lists are of another time.") {
		t.Errorf("found are %q:\n%s", kinds, said)
	}
}
