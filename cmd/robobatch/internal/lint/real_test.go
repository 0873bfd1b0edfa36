package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/robobatch/robobatch/robots"
)

// brokenFiles are the files of testdata/quickstart that do not do what their authors meant, with the code of the
// finding that reports it.
var brokenFiles = map[string]string{
	"archive.codeplex.com":         "html",
	"comptrollerofthecurrency.gov": "noindex_open",
	"elpais.com":                   "joined_lines",
	"medium.com":                   "html",
	"occ.gov":                      "noindex_open",
	"www.bhphotovideo.com":         "no_leading_slash",
	"www.cairn.info":               "html",
	"www.celine.com":               "full_url_rule",
	"www.cineworld.co.uk":          "html",
	"www.economist.com":            "html",
	"www.gettyimages.com":          "html",
	"www.indeed.com":               "html",
	"www.ingrammicro.com":          "html",
	"www.lepoint.fr":               "agent_list",
	"www.logitech.com":             "full_url_rule",
	"www.mdpi.com":                 "html",
	"www.moph.go.th":               "html",
	"www.occ.gov":                  "noindex_open",
	"www.opm.gov":                  "full_url_rule",
	"www.otago.ac.nz":              "unknown_field", // Disallop, in one of 383 lines
	"www.pantone.com":              "no_leading_slash",
	"www.pch.com":                  "nul",
	"www.pclob.gov":                "missing_colon",
	"www.scopus.com":               "html",
	"www.stuff.co.nz":              "joined_lines",
	"www.substack.com":             "html",
	"www.superdrug.com":            "html",
	"www.usaid.gov":                "not_robots",
	"www.uswitch.com":              "noindex_open",
	"www.wsop.com":                 "no_leading_slash",
	"www.yourtango.com":            "noindex_open",
}

// closedFiles are files that block search engines from the whole site. This may be intended, so a baseline accepts
// it.
var closedFiles = []string{"plainlanguage.gov", "www.jimmyjohns.com", "www.reddit.com"}

// failing returns the findings of a robots.txt for which lint fails by default: those with the severity error.
func failing(body []byte) (codes []string) {
	for _, f := range Findings(&Place{}, body, robots.Inspect(body, robots.Google).Diagnostics) {
		if f.severity == Error && !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// TestRealFiles checks that lint fails for the broken files of testdata/quickstart and for lines of other broken
// files, and for no other file.
func TestRealFiles(t *testing.T) {
	broken, caught, good, alarms := 0, 0, 0, 0
	judge := func(name, want string, body []byte) {
		got := failing(body)
		switch {
		case want == "":
			if good++; len(got) > 0 {
				alarms++
				t.Errorf("%s is good, but has %q", name, got)
			}
		case slices.Contains(got, want):
			broken, caught = broken+1, caught+1
		default:
			broken++
			t.Errorf("%s has %q, want %s", name, got, want)
		}
	}
	names, err := filepath.Glob("../../../../testdata/quickstart/rules/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		_, host, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txt"), "_")
		if slices.Contains(closedFiles, host) {
			continue
		}
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		judge(host, brokenFiles[host], body)
	}
	lines, err := txtar.ParseFile("testdata/broken.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lines.Files {
		host, want, _ := strings.Cut(f.Name, " ")
		judge(host, want, f.Data)
	}
	if broken < 60 || good < 200 {
		t.Errorf("%d broken files, %d good ones", broken, good)
	}
	t.Logf("%d of %d broken files caught; %d false alarms in %d good ones", caught, broken, alarms, good)
}
