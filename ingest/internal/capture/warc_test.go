package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/robots"
)

// show formats a response as one line.
func show(r robots.Response) string {
	s := fmt.Sprintf("%s %d %d", r.Origin, r.Status, len(r.Body))
	if r.URL != "" {
		s += " of " + r.URL
	}
	if r.Location != "" {
		s += " to " + r.Location
	}
	return s
}

func showAll(rs []robots.Response) (lines []string) {
	for _, r := range rs {
		lines = append(lines, show(r))
	}
	return lines
}

// TestWARCIndependent reads files of other programs; testdata/warc/README.md describes how they were made.
func TestWARCIndependent(t *testing.T) {
	wget := []string{
		"http://ok.example 200 47",
		"http://chunked.example 200 52",
		"http://gzip.example 200 49",
		"http://br.example 200 47",
		"http://one.example 301 0 to http://two.example/robots.txt",
		"http://two.example 302 0 to //three.example/robots.txt",
		"http://three.example 307 0 to /en/robots.txt",
		"http://three.example 200 50 of http://three.example/en/robots.txt",
		"http://gone.example 404 0",
		"http://down.example 503 0",
		"http://ok.example:8080 200 52",
	}
	warcio := []string{
		"https://a.example 200 55",
		"https://b.example 301 0 to https://www.b.example/robots.txt",
		"https://www.b.example 308 0 to /rules?of=robots.txt",
		"https://www.b.example 200 28 of https://www.b.example/rules?of=robots.txt",
		"https://c.example 404 0",
		"https://d.example 503 0",
		"https://xn--mller-kva.example 200 2200",
		"https://a.example 200 55",
	}
	again := []string{"http://ok.example 200 47", "http://gone.example 404 0", "http://down.example 503 0"}
	plain := []string{
		"http://ok.example 200 47",
		"http://one.example 301 0 to http://two.example/robots.txt",
		"http://two.example 302 0 to //three.example/robots.txt",
		"http://three.example 307 0 to /en/robots.txt",
		"http://three.example 200 50 of http://three.example/en/robots.txt",
	}
	cases := map[string][]string{
		"wget-1.warc.gz":      wget,
		"wget-plain.warc":     plain,
		"warcio.warc":         warcio,
		"warcio.warc.zst":     warcio,
		"dictionary.warc.zst": warcio,
		"":                    slices.Concat(warcio, warcio, warcio, wget, again, plain),
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			got, problems := readAll(t, filepath.Join("../../testdata/warc", name))
			if lines := showAll(got); !slices.Equal(lines, want) || problems.Total != 0 {
				t.Errorf("got %v and\n%s\nwant\n%s", problems.First, strings.Join(lines, "\n"), strings.Join(want, "\n"))
			}
			for _, r := range got {
				if r.FetchedAt.Year() != 2026 {
					t.Errorf("%s: fetched at %v", show(r), r.FetchedAt)
				}
				if len(r.Body) > 0 && !strings.Contains(string(r.Body), "\nDisallow: /") {
					t.Errorf("%s: body %q", show(r), r.Body)
				}
			}
		})
	}
}

// TestWARCRevisitOrder checks that a revisit record is reported if its original is in no file, but not if the original
// comes later.
func TestWARCRevisitOrder(t *testing.T) {
	dir := t.TempDir()
	copyTo := func(name, from string) {
		data, err := os.ReadFile(filepath.Join("../../testdata/warc", from))
		if err != nil {
			t.Fatal(err)
		}
		testpack.WriteFile(t, dir, name, data)
	}
	copyTo("1.warc.gz", "wget-2.warc.gz")
	got, problems := readAll(t, dir)
	want := []string{"http://gone.example 404 0", "http://down.example 503 0"}
	if lines := showAll(got); !slices.Equal(lines, want) || problems.Total != 1 {
		t.Errorf("alone: got %q and %v, want %q and one problem", lines, problems.First, want)
	}
	if message := fmt.Sprint(problems.First); !strings.Contains(message, "1.warc.gz: record at byte 854: the record that it repeats") {
		t.Error(message)
	}
	copyTo("2.warc.gz", "wget-1.warc.gz")
	got, problems = readAll(t, dir)
	if last := show(got[len(got)-1]); len(got) != 14 || last != "http://ok.example 200 47" || problems.Total != 0 {
		t.Errorf("with the later file: %d responses, the last %s, and %v", len(got), last, problems.First)
	}
}

// TestRevisitOfRevisit reads a revisit of a revisit.
func TestRevisitOfRevisit(t *testing.T) {
	x := &captureIndex{places: map[uint64]int{7: 0}, last: 1}
	for _, r := range []revisit{{own: 8, refs: [3]uint64{7}}, {own: 9, refs: [3]uint64{8}}} {
		if err := x.resolve(&r); err != nil {
			t.Errorf("revisit %d: %v", r.own, err)
		}
	}
}
