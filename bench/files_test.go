package bench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// largeFiles are the origins of the files in the collection with the most wildcards: 571 of 1,101 rules, 583 of 1,337,
// and 340 of 548. In the first file, most are for agents other than "*".
var largeFiles = []robots.Origin{"https://www.aeroflot.ru", "https://www.sophos.com", "https://www.next.co.uk"}

// slowOwn are the ten files that were slowest to match before fingerprints were used, among those with at least 30
// paths in the logs. slowOther are the ten slowest of the others, with paths of other origins.
var (
	slowOwn = []robots.Origin{
		"https://www.columbia.com", "https://www.sophos.com", "https://www.avianca.com", "https://www.loewe.com",
		"https://www.sportsdirect.com", "https://www.aeroflot.ru", "https://www.tf1.fr", "https://www.next.co.uk",
		"https://www.haaretz.com", "https://musescore.org",
	}
	slowOther = []robots.Origin{
		"https://www.brooksbrothers.com", "https://www.debenhams.com", "https://www.celine.com", "https://www.youporn.com",
		"https://www.screwfix.com", "https://au.indeed.com", "https://www.pixabay.com", "https://www.marksandspencer.com",
		"https://www.ubs.com", "https://www.authorstream.com",
	}
)

// otherPaths is the number of paths of other origins that are matched with a large file: the logs have only dozens of
// its own paths.
const otherPaths = 8192

// fileRows returns rows to match with the rules of an origin: its paths in the logs, and real paths of other origins
// from the shuffled log.
func fileRows(tb testing.TB, origin robots.Origin, others int) []matchRow {
	tb.Helper()
	p := corpora[1]
	c := p.open(tb)
	var a *automaton.Automaton
	for _, r := range responses(tb, c) {
		if r.Origin == origin {
			a = compile(tb, r.Body)
		}
	}
	if a == nil {
		tb.Fatalf("no rules for %s in the collection", origin)
	}
	var rows []matchRow
	for _, l := range c.Logs {
		rows = append(rows, pathRows(tb, l, a, origin, others)...)
	}
	return rows
}

// pathRows returns rows for a log's paths of the origin; for the shuffled log, also for the first paths of other
// origins.
func pathRows(tb testing.TB, l corpus.Log, a *automaton.Automaton, origin robots.Origin, others int) (rows []matchRow) {
	tb.Helper()
	if l.Name != "shuffled" {
		others = 0
	}
	all, _, _ := batches(tb, l)
	var text []byte
	for i := range all {
		for j := range all[i].URLs {
			u, err := robots.SplitURL(all[i].URL(j))
			if err != nil {
				continue
			}
			if text, err = robots.AppendOrigin(text[:0], u); err != nil {
				continue
			}
			if robots.Origin(text) != origin {
				if others == 0 {
					continue
				}
				others--
			}
			path, _ := dialect.Path(u.Path, nil)
			rows = append(rows, matchRow{a, []byte(string(path))})
		}
	}
	return rows
}

// hostOf returns the name of an origin in names of benchmarks.
func hostOf(origin robots.Origin) string {
	_, host, _ := strings.Cut(string(origin), "://")
	return host
}

// crowded is the number of patterns with "*" and a common beginning above which a file is in BenchmarkCrowded: the
// automaton then uses an index.
const crowded = 24

// isCrowded reports whether more than crowded patterns have the same text before their first "*".
func isCrowded(rules []automaton.Rule) bool {
	count := map[string]int{}
	for _, r := range rules {
		if anchor, _, ok := strings.Cut(r.Pattern, "*"); ok {
			count[anchor]++
		}
	}
	for _, n := range count {
		if n > crowded {
			return true
		}
	}
	return false
}

// logPaths returns the paths in all logs by origin, and the first otherPaths of the shuffled log.
func logPaths(tb testing.TB, c *corpus.Corpus) (own map[robots.Origin][][]byte, others [][]byte) {
	tb.Helper()
	own = map[robots.Origin][][]byte{}
	for _, l := range c.Logs {
		all, _, _ := batches(tb, l)
		var text, buf []byte
		for i := range all {
			for j := range all[i].URLs {
				u, err := robots.SplitURL(all[i].URL(j))
				if err != nil {
					continue
				}
				if text, err = robots.AppendOrigin(text[:0], u); err != nil {
					continue
				}
				var path []byte
				path, buf = dialect.Path(u.Path, buf)
				path = bytes.Clone(path)
				own[robots.Origin(text)] = append(own[robots.Origin(text)], path)
				if l.Name == "shuffled" && len(others) < otherPaths {
					others = append(others, path)
				}
			}
		}
	}
	return own, others
}

// BenchmarkCrowded is BenchmarkMatch for each file of the collection with many patterns that have a common beginning,
// with paths of its own and of other origins.
func BenchmarkCrowded(b *testing.B) {
	p := corpora[1]
	c := p.open(b)
	own, others := logPaths(b, c)
	seen := map[string]bool{}
	for _, r := range responses(b, c) {
		if seen[string(r.Body)] || !isCrowded(automatonRules(robots.Parse(r.Body, dialect))) {
			continue
		}
		seen[string(r.Body)] = true
		b.Run("data="+p.name+"/rules="+hostOf(r.Origin), func(b *testing.B) {
			a := compile(b, r.Body)
			var rows []matchRow
			for _, path := range append(own[r.Origin], others...) {
				rows = append(rows, matchRow{a, path})
			}
			benchmarkAnyMatch(b, rows)
		})
	}
}
