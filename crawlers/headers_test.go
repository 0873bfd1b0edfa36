package crawlers

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

// TestPublicHeaders checks that the headers of public lists still name the same crawlers, except those that turned out
// to belong to other clients.
func TestPublicHeaders(t *testing.T) {
	changed := map[string]string{} // the crawlers that the headers named previously
	for _, line := range dataLines(t, "testdata/changed-headers.tsv")[1:] {
		fields := strings.Split(line, "\t")
		changed[fields[2]] = fields[1]
		if got := tokenOf(fields[2]); got != "" {
			t.Errorf("%s names %s again", fields[2], got)
		}
	}
	const name = "testdata/public-headers.tsv.gz"
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	headers, named, differ := 0, 0, 0
	var now strings.Builder
	for line := range strings.Lines(string(text)) {
		before, header, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		headers++
		got := tokenOf(header)
		if got != "" {
			named++
		}
		if was, ok := changed[header]; ok && before == was && got == "" {
			got = was
		}
		if got != before {
			differ++
			t.Errorf("%s names %q, and %q before", header, got, before)
		}
		now.WriteString(got + "\t" + header + "\n")
	}
	if headers != 42_000 || named < 427 {
		t.Errorf("%d headers, of which %d name a crawler", headers, named)
	}
	if !*update || differ == 0 {
		return
	}
	t.Logf("%d of %d headers name another crawler", differ, headers)
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write([]byte(now.String())); err == nil {
		err = w.Close()
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tokenOf returns the token of the crawler that a header names, "" if there is none.
func tokenOf(header string) string {
	c, _ := Identify([]byte(header))
	return c.Token
}
