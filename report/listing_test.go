package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/report/internal/listing"
	"github.com/robobatch/robobatch/robots"
)

// TestSitemaps reads how many lines name sitemaps.
func TestSitemaps(t *testing.T) {
	run := &Run{}
	for _, text := range []string{"User-agent: *\nDisallow: /x\n", "Sitemap: https://a.example/1\n", "sitemap: https://a.example/1\nSitemap: /2\n"} {
		run.Files = append(run.Files, File{Origin: "https://a.example", Text: []byte(text), Report: robots.Inspect([]byte(text), robots.Google)})
	}
	run.Files = append(run.Files, File{Origin: "https://a.example"}) // there is no text
	var got bytes.Buffer
	if err := page().Lookup("rules").Execute(&got, &view{Run: run, Listings: listing.New(run.Files, nil)}); err != nil {
		t.Fatal(err)
	}
	notes := regexp.MustCompile(`<p class="note">.*?</p>`).FindAllString(got.String(), -1)
	want := []string{
		`<p class="note">1 line names a sitemap: <code>robobatch rules -sitemaps</code> says whether crawlers may fetch it.</p>`,
		`<p class="note">2 lines name sitemaps: <code>robobatch rules -sitemaps</code> says whether crawlers may fetch them.</p>`,
	}
	if !slices.Equal(notes, want) {
		t.Errorf("the notes about sitemaps are %q, want %q", notes, want)
	}
}

// TestTextless checks the note about files whose text is missing because the page has no room. Files without any text
// must not be counted.
func TestTextless(t *testing.T) {
	large := []byte(strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 300))
	for want, texts := range map[string][][]byte{
		"": {[]byte("# a\n"), nil, {}}, "One of these files has no link: its text and rules would make the page too large.": {[]byte("# a\n"), large, nil},
		"2 of these files have no link: their text and rules would make the page too large.": {large, large},
	} {
		run := &Run{}
		for _, text := range texts {
			run.Files = append(run.Files, File{Origin: "https://a.example", Text: text})
		}
		var got bytes.Buffer
		if err := page().Lookup("rules").Execute(&got, &view{Run: run, Listings: listing.New(run.Files, nil)}); err != nil {
			t.Fatal(err)
		}
		if note := regexp.MustCompile(`(One|\d+) of these files (has|have).*?[.]`).FindString(got.String()); note != want {
			t.Errorf("the note about missing texts is %q, want %q", note, want)
		}
	}
}
