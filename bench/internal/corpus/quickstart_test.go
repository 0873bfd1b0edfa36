package corpus

import (
	"bytes"
	"crypto/sha1"
	"encoding/csv"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// folder is the quick start in the source tree.
var folder = filepath.Join("..", "..", "..", "testdata", "quickstart")

// TestFiles checks that all robots.txt files in sources.tsv exist unchanged, and no others. It fails if a checkout has
// changed line ends.
func TestFiles(t *testing.T) {
	rows := readSources(t)
	for _, row := range rows {
		body, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(row["path"])))
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := sha1.Sum(body); hex.EncodeToString(sum[:]) != row["sha1"] {
			t.Errorf("%s has changed: SHA-1 %x, listed %s", row["path"], sum, row["sha1"])
		}
	}
	names, err := os.ReadDir(filepath.Join(folder, "rules"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(rows) {
		t.Errorf("rules has %d files, sources.tsv lists %d", len(names), len(rows))
	}
}

// TestVariety checks that the sample has all kinds of files and verdicts.
func TestVariety(t *testing.T) {
	files := make(map[robots.Origin]*robots.File)
	flags := make(map[string]int)
	for _, row := range readSources(t) {
		body, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(row["path"])))
		if err != nil {
			t.Fatal(err)
		}
		files[robots.Origin(row["origin"])] = robots.Parse(body, robots.Google)
		for flag := range bytes.SplitSeq([]byte(row["flags"]), []byte(",")) {
			flags[string(flag)]++
		}
	}
	for _, flag := range []string{"bom", "crlf", "cr_only", "mixed_eol", "html", "nul", "non_utf8"} {
		if flags[flag] == 0 {
			t.Errorf("no robots.txt has %s", flag)
		}
	}
	urls, err := Quickstart(folder).Logs[0].URLs()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := tally(files, urls)
	t.Logf("%d files, %d URLs: %v", len(files), len(urls), verdicts)
	for _, verdict := range []string{"allow rule", "disallow rule", "default", "no_group", "no_robots"} {
		if verdicts[verdict] < 10 {
			t.Errorf("%d URLs have the verdict %s, too few to show it", verdicts[verdict], verdict)
		}
	}
}

// tally counts the verdicts on URLs for the agent "*".
func tally(files map[robots.Origin]*robots.File, urls [][]byte) map[string]int {
	verdicts := make(map[string]int)
	for _, line := range urls {
		verdicts[verdict(files, line)]++
	}
	return verdicts
}

// verdict returns the name of the verdict on one URL.
func verdict(files map[robots.Origin]*robots.File, line []byte) string {
	origin := OriginOf(line)
	file := files[origin]
	switch {
	case origin == "":
		return "bad_url"
	case file == nil:
		return "no_robots"
	}
	u, err := robots.SplitURL(line)
	if err != nil {
		return "bad_url"
	}
	rules, ok := file.Select(robots.NewAgent("*", robots.Google))
	path, _ := robots.Google.Path(u.Path, nil)
	best := robots.Decide(rules, path, robots.Google)
	switch {
	case !ok:
		return "no_group"
	case best < 0:
		return "default"
	case rules[best].Allow:
		return "allow rule"
	default:
		return "disallow rule"
	}
}

// readSources returns the rows of sources.tsv, by column.
func readSources(t *testing.T) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "sources.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.LazyQuotes = '\t', true
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, 0, len(all)-1)
	for _, fields := range all[1:] {
		row := make(map[string]string)
		for i, f := range fields {
			row[all[0][i]] = f
		}
		rows = append(rows, row)
	}
	return rows
}
