package sitemap

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what testdata wants")

// A parseCase is a sitemap of testdata with its expected entries.
type parseCase struct {
	name, text, want string
}

// readCases returns the cases of a file. The README.md of testdata describes its format.
func readCases(tb testing.TB, name string) (archive *txtar.Archive, all []parseCase) {
	tb.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(archive.Files); i += 2 {
		f := archive.Files[i]
		c := parseCase{name: f.Name, text: string(f.Data)}
		if quoted, ok := strings.CutSuffix(c.name, ".quoted"); ok {
			c.name, c.text = quoted, ""
			for line := range strings.Lines(string(f.Data)) {
				part, err := strconv.Unquote(strings.TrimSpace(line))
				if err != nil {
					tb.Fatalf("%s: %s: %v", name, f.Name, err)
				}
				c.text += part
			}
		}
		if i+1 == len(archive.Files) || archive.Files[i+1].Name != c.name+".want" {
			tb.Fatalf("%s: %s.want does not follow %s", name, c.name, f.Name)
		}
		c.want = string(archive.Files[i+1].Data)
		all = append(all, c)
	}
	return archive, all
}

// readText returns the entries that a Reader finds in a text, in the format of the cases.
func readText(r io.Reader) string {
	var sb strings.Builder
	rd := NewReader(r)
	for {
		e, err := rd.Next()
		if err == nil {
			fmt.Fprintf(&sb, "%d %s\n", e.Line, e.URL)
			continue
		}
		n := rd.Notes()
		if n.Space != "" {
			fmt.Fprintf(&sb, "namespace %s\n", n.Space)
		}
		if n.NoSpace {
			sb.WriteString("no namespace\n")
		}
		if n.Encoding != "" {
			fmt.Fprintf(&sb, "encoding %s\n", n.Encoding)
		}
		if n.NoURL > 0 {
			fmt.Fprintf(&sb, "%d without a URL, the first in line %d\n", n.NoURL, n.FirstLine)
		}
		if !errors.Is(err, io.EOF) {
			fmt.Fprintf(&sb, "error %v\n", err)
		}
		return sb.String()
	}
}

// TestCases reads the sitemaps of testdata, whole and byte by byte.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		archive, cases := readCases(t, file)
		for i, c := range cases {
			got := readText(strings.NewReader(c.text))
			if *update {
				archive.Files[2*i+1].Data = []byte(got)
				continue
			}
			if got != c.want {
				t.Errorf("%s: %s: got\n%swant\n%s", file, c.name, got, c.want)
			}
			if slow := readText(iotest.OneByteReader(strings.NewReader(c.text))); slow != got {
				t.Errorf("%s: %s: byte by byte\n%swant\n%s", file, c.name, slow, got)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A repeated is an endless text: a start, and then one text repeatedly.
type repeated struct {
	begin, again string
	at           int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		var from string
		if r.at < len(r.begin) {
			from = r.begin[r.at:]
		} else {
			from = r.again[(r.at-len(r.begin))%len(r.again):]
		}
		m := copy(p[n:], from)
		n, r.at = n+m, r.at+m
	}
	return n, nil
}

// TestHostile checks that texts of 256 MiB that are one token, nest elements without end, or expand entities, end in an
// error and take little memory.
func TestHostile(t *testing.T) {
	const head = `<?xml version="1.0"?><urlset xmlns="` + Namespace + `">`
	var entities strings.Builder
	entities.WriteString("<!DOCTYPE urlset [<!ENTITY a \"" + strings.Repeat("x", 1000) + "\">")
	for i := range 25 {
		fmt.Fprintf(&entities, "<!ENTITY %c \"%s\">", 'b'+i, strings.Repeat("&"+string(rune('a'+i))+";", 100))
	}
	bomb := entities.String()
	for name, c := range map[string]struct {
		begin, again string
		want         error
	}{
		"text":      {head + "<url><loc>https://a.example/", "a", ErrHuge},
		"comment":   {head + "<!--", "x", ErrHuge},
		"cdata":     {head + "<url><loc><![CDATA[", "x", ErrHuge},
		"name":      {head + "<", "x", ErrHuge},
		"attribute": {head + "<url a='", "x", ErrHuge},
		"many":      {head + "<url", " a='1'", ErrHuge},
		"directive": {"<!DOCTYPE ", "x", ErrHuge},
		"blank":     {"", " ", ErrHuge},
		"deep":      {head, "<a>", ErrDeep},
		"bomb":      {bomb + "]>" + head + "<url><loc>&z;", "&z;", ErrXML},
		"pieces":    {head + "<url><loc>", "a<!-- -->", io.EOF},
		"lines":     {"https://a.example/\nhttps://b.example/", "x", io.EOF},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := NewReader(io.LimitReader(&repeated{begin: c.begin, again: c.again}, 256<<20))
		if name == "pieces" || name == "lines" {
			r = NewReader(io.LimitReader(&repeated{begin: c.begin, again: c.again}, 8<<20))
		}
		var err error
		for err == nil {
			var e Entry
			if e, err = r.Next(); len(e.URL) > MaxURL {
				t.Errorf("%s: a URL of %d bytes", name, len(e.URL))
			}
		}
		runtime.ReadMemStats(&after)
		if name == "pieces" {
			c.want = ErrCutOff
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
			t.Errorf("%s: the heap grew by %d bytes", name, grown)
		}
	}
}

// TestLongest reads URLs of the maximum length, and longer ones: in a list, the end of the line counts.
func TestLongest(t *testing.T) {
	longest := "https://a.example/"
	longest += strings.Repeat("x", MaxURL-len(longest))
	for text, want := range map[string]int{
		longest: MaxURL, longest + "x": 0, longest[1:] + "\n": MaxURL - 1, longest + "\n": 0,
		written([]string{longest}): MaxURL, written([]string{longest + "x"}): 0,
	} {
		if e, _ := NewReader(strings.NewReader(text)).Next(); len(e.URL) != want {
			t.Errorf("%d bytes from %q: a URL of %d, want %d", len(text), text[:20], len(e.URL), want)
		}
	}
}

// TestLooksLikeXML checks which texts look like a sitemap if no format is set.
func TestLooksLikeXML(t *testing.T) {
	for head, want := range map[string]bool{
		"<?xml version='1.0'?>": true, "\ufeff\r\n <urlset>": true, "<s:urlset xmlns:s='x'>": true, "<sitemapindex\n": true, "<!-- a --><!-- b -->\n<urlset>": true,
		"": false, "https://a.example/": false, "<html>": false, "<!doctype html>": false, "<urlsets>": false, "<190>Jan 1 syslog": false, "<!-- a": false, "urlset": false,
	} {
		if got := LooksLikeXML([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// FuzzReader reads any text. Reading must end, must not depend on the size of reads, and must not return a URL that is
// empty, too long or surrounded by white space. If the URLs are written as XML, they must be read again unchanged.
func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		_, cases := readCases(f, file)
		for _, c := range cases {
			f.Add([]byte(c.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, slow := readText(bytes.NewReader(text)), readText(iotest.HalfReader(bytes.NewReader(text))); got != slow {
			t.Fatalf("read at once\n%s, in halves\n%s", got, slow)
		}
		var urls []string
		line := int64(0)
		r := NewReader(bytes.NewReader(text))
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if len(e.URL) == 0 || len(e.URL) > MaxURL || len(bytes.TrimSpace(e.URL)) != len(e.URL) || e.Line < line || e.Offset > int64(2*len(text)) {
				t.Fatalf("%+v behind line %d", e, line)
			}
			line = e.Line
			urls = append(urls, string(e.URL))
		}
		if r.Kind() == Text {
			return
		}
		again := NewReader(strings.NewReader(written(urls)))
		for _, want := range urls {
			if e, err := again.Next(); string(e.URL) != want || err != nil {
				t.Fatalf("%q, %v, want %q", e.URL, err, want)
			}
		}
		if _, err := again.Next(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}
