package robots_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// TestPreferences runs the cases of testdata/preferences through the reference.
func TestPreferences(t *testing.T) { repcase.RunPreferences(t, repcase.ReferencePreferences) }

// TestUsageDictionary reads a statement for each production of a Dictionary in RFC 9651.
func TestUsageDictionary(t *testing.T) {
	file, err := os.Open("../testdata/preferences/dictionary.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	letters := map[robots.Preference]string{robots.Unstated: "-", robots.Refused: "n", robots.Permitted: "y"}
	rows := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		f := strings.Split(lines.Text(), "\t")
		statement, err := strconv.Unquote(f[0])
		if err != nil || len(f) != 4 {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		rows++
		for _, path := range []string{"", "/ "} {
			p := robots.PreferencesOf([]byte("User-agent: *\nContent-Usage: "+path+statement), robots.RFC9309)
			rule := p.Groups[0].Bound[robots.ByUsage][0]
			if got, want := letters[rule.Uses[robots.TrainAI]]+letters[rule.Uses[robots.Search]], f[1]+f[2]; got != want {
				t.Errorf("%s: %q: %s, want %s", f[3], path+statement, got, want)
			}
			if fails := strings.HasSuffix(f[3], ": fails"); rule.Malformed != fails {
				t.Errorf("%s: %q: malformed %t, want %t", f[3], path+statement, rule.Malformed, fails)
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d statements", rows)
	}
}

// TestLicense checks that the license of a file is the first valid one, wherever it is.
func TestLicense(t *testing.T) {
	for body, want := range map[string]string{
		"":                                   "",
		"License: https://a.com/license.xml": "https://a.com/license.xml 1",
		"license: /license.xml":              "",
		"License https://a.com/l":            "",
		"User-agent: a\nLICENSE: license.xml\nlicense:http://b.com/l # x\nLicense: https://a.com/l": "http://b.com/l 3",
	} {
		got := ""
		if l := robots.PreferencesOf([]byte(body), robots.Google).License; l.Line > 0 {
			got = l.URL + " " + strconv.Itoa(int(l.Line))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}
