package sitemapfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// write writes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBeside checks which file next to an index corresponds to a URL, and that it is never outside the directory.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"secret.xml": "", "maps/index.xml": "", "maps/a.xml": "", "maps/b.xml.gz": "", "maps/c.xml": "", "maps/news/a.xml": "", "maps/q.xml?page=2": "", "maps/é.xml": "",
	})
	for url, want := range map[string]string{
		"https://a.example/a.xml": "a.xml", "https://a.example/news/a.xml": "news/a.xml", "https://a.example/x/news/a.xml#f": "news/a.xml", "/a.xml": "a.xml", "a.xml": "a.xml",
		"https://a.example/b.xml": "b.xml.gz", "https://a.example/b.xml.gz": "b.xml.gz", "https://a.example/c.xml.gz": "c.xml", "https://a.example/q.xml?page=2": "q.xml?page=2",
		"https://a.example/a.xml?page=3": "a.xml", "https://a.example/%C3%A9.xml": "é.xml",
		"https://a.example/../secret.xml": "", "https://a.example/..%2fsecret.xml": "", "https://a.example/news": "", "https://a.example/": "", "https://a.example": "", "": "", "%zz": "",
		"https://a.example/a.xml%00": "", "https://a.example/c:/a.xml": "", `https://a.example/..\secret.xml`: "", "https://a.example/" + strings.Repeat("x/", 10_000) + "a.xml": "a.xml",
	} {
		got, ok := Beside(filepath.Join(dir, "maps", "index.xml"), []byte(url))
		if want != "" {
			want = filepath.Join(dir, "maps", filepath.FromSlash(want))
		}
		if got != want || ok != (want != "") {
			t.Errorf("%.60q: %q, want %q", url, got, want)
		}
	}
}

// TestLoop reads indexes that name each other and themselves.
func TestLoop(t *testing.T) {
	dir := t.TempDir()
	index := func(names ...string) string {
		files := "<sitemap><loc>https://a.example/" + strings.Join(names, "</loc></sitemap><sitemap><loc>https://a.example/") + "</loc></sitemap>"
		return `<sitemapindex xmlns="` + sitemap.Namespace + `">` + files + "</sitemapindex>"
	}
	write(t, dir, map[string]string{"a.xml": index("b.xml", "a.xml", "c.txt"), "b.xml": index("a.xml", "c.txt"), "c.txt": "https://a.example/\n"})
	s, err := Read([]string{filepath.Join(dir, "a.xml")}, Options{Dialect: robots.Google})
	if err != nil {
		t.Fatal(err)
	}
	if s.URLs != 1 || s.Set.Len() != 1 || len(s.Read) != 3 || len(s.Names) != 1 || len(s.Notes) != 1 || s.Notes[0].Problem != Odd {
		t.Errorf("%+v", s)
	}
	names, _ := Expand(filepath.Join(dir, "a.xml"), 0)
	if want := []string{filepath.Join(dir, "c.txt")}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// TestLimits checks the notes about a sitemap above the limits of the protocol, and that all its URLs are read, even
// above the memory limit.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range sitemap.MaxURLs + 1 {
		fmt.Fprintf(&text, "https://a.example/%d/%s\n", i, strings.Repeat("x", 1100))
	}
	write(t, dir, map[string]string{"sitemap.txt": text.String()})
	name := filepath.Join(dir, "sitemap.txt")
	for _, most := range []int64{0, 1000} {
		s, err := Read([]string{dir}, Options{Dialect: robots.Google, Most: most})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			name + " has 50001 URLs; the limit of a sitemap is 50000: crawlers may ignore all of them",
			fmt.Sprintf("%s has %d bytes (unpacked); the limit of a sitemap is 52428800: crawlers may ignore it", name, text.Len()),
		}
		if len(s.Notes) != 1 || !slices.Equal(s.Notes[0].First, want) || s.URLs != sitemap.MaxURLs+1 {
			t.Errorf("%d URLs, %+v", s.URLs, s.Notes)
		}
		if (s.Set == nil) != (most > 0) || s.Size < s.URLs*sitemap.BytesPerURL {
			t.Errorf("limit %d: set %v, %d bytes", most, s.Set != nil, s.Size)
		}
		n := int64(0)
		if err := s.EachURL(func([]byte, string, int64) error { n++; return nil }); err != nil || n != s.URLs {
			t.Errorf("%d URLs once more, %v", n, err)
		}
	}
}

// TestFaults checks that the errors for truncated files and files that are not sitemaps name the file and the line.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"html.xml": "<!doctype html>", "cut.xml": "<urlset>\n<url>", "robots.txt": "User-agent: *\n", "a.xml.gz": "\x1f\x8b\x08\x00\x00", "empty/readme.md": "",
	})
	for name, want := range map[string]string{
		"html.xml": "html.xml: line 1 ", "cut.xml": "cut.xml: line 2 ", "robots.txt": "robots.txt: line 1 ", "a.xml.gz": "a.xml.gz: ", "none.xml": "none.xml: no such file", "empty": "empty: contains no file",
	} {
		_, err := Read([]string{filepath.Join(dir, name)}, Options{Dialect: robots.Google})
		if _, ok := errors.AsType[*NameError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
