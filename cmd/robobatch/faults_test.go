package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fives are logs with five faults each, and the expected findings, the worst first.
var fives = map[string]struct {
	traffic
	want []string // how each begins, in their order
}{
	"shop": {
		traffic{
			captures: []sent{{-5, usualText}, {9, closedText}, {16, usualText}},
			client: func(v *visit) {
				v.skip = v.robot && v.day > 9 && v.day < 16 && v.path != "/robots.txt"
				if v.robot && v.path != "/robots.txt" && v.rng.IntN(3) == 0 {
					v.path = v.day0().Format("/calendar/2006/01/02/") + fmt.Sprintf("?view=%d", v.rng.IntN(9))
				}
				if v.path != "/robots.txt" {
					failSome(v, 18, 503, 4)
				}
				if strings.HasPrefix(v.path, "/img/") && v.day > 6 && v.day < 6.5 {
					v.status = 502
				}
			},
			more: func(rng *rand.Rand) []visit { return longer(violations(rng)) },
		},
		[]string{
			"server_errors: Since 19 Mar 00:", "site_closed: From 10 Mar 00:00 to 17 Mar 00:00 (7 days) robots.txt blocked Googlebot and bingbot from the whole site (line 2, `Disallow: /`).",
			"endless_urls: ", "outage: /img/ was down for 12 hours (7 Mar 00:", "rules_ignored: ",
		},
	},
	"forum": {
		traffic{
			client: func(v *visit) {
				v.skip = v.agent == bingbot && v.day > 19
				switch {
				case !v.robot || v.path == "/robots.txt":
				case v.agent == googlebot && v.rng.IntN(2) == 0:
					v.path = fmt.Sprintf("/forum/topic.php?t=%d&sid=%016x%016x", v.rng.IntN(300), v.rng.Uint64(), v.rng.Uint64())
				case v.agent == googlebot && v.rng.IntN(4) == 0:
					v.path, v.status = fmt.Sprintf("/gone/%d.html", v.rng.IntN(900)), 404
				case v.status == 301:
					v.status = 200
				}
			},
			more: func(rng *rand.Rand) []visit { return longer(append(impostors(rng), chains(rng)...)) }, args: []string{"-ranges", "ranges"},
		},
		[]string{
			"endless_urls: Googlebot crawl", "crawler_stopped: bingbot has made no requests since 19 Mar 23:", "redirect_chain: ", "not_found_section: ", "crawler_impostors: ",
		},
	},
	"news": {
		traffic{
			client: func(v *visit) {
				v.skip = v.agent == googlebot && v.day > 20 && v.rng.IntN(10) > 0
				switch {
				case v.path == "/robots.txt" && v.day > 5 && v.day < 7:
					v.status = 500
				case v.path == "/robots.txt":
					v.status = 200
				case v.robot && v.rng.IntN(4) == 0:
					v.path = fmt.Sprintf("/list/%d%s/", v.rng.IntN(9000), strings.Repeat("/more", 3+v.rng.IntN(8)))
				case v.agent == bingbot && v.day > 10 && v.day < 12:
					v.status = 403
				case v.robot && v.rng.IntN(3) == 0:
					v.path = fmt.Sprintf("/shop/%d.html?view=%d", v.rng.IntN(30), v.rng.IntN(90))
				}
			},
		},
		[]string{
			"crawler_slowed: Since 21 Mar 00:00 clients that claim to be Googlebot ", "parameter_crawl: ", "endless_urls: ", "crawler_refused: ", "robots_txt_failed: From 6 Mar 10:58 to 8 Mar 01:52 (39 hours) robots.txt returned 500",
		},
	},
}

// longer has visits of two weeks last four.
func longer(all []visit) []visit {
	for i := range all {
		all[i].day *= 2
	}
	return all
}

// TestFiveFaults puts five faults into each of three logs of four weeks. The report must have a finding for each, the
// worst first, and no other findings.
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

// TestStaleLists checks that no client is called an impostor if the lists of addresses are too old to prove it.
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
	if codes, said := findings(t, dir, "-rules", "rules.jsonl", "-in", "access.log", "-base", "https://www.shop.example", "-as-of", "log", "-ranges", "ranges"); strings.Join(codes, " ") != "rules_ignored" {
		t.Errorf("found are %q:\n%s", codes, said)
	}
}
