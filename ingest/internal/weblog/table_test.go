package weblog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// readTable detects the format of a text and reads its URLs, as package ingest does.
func readTable(text string, opt Options) (format Format, urls []string, field string, err error) {
	var lines [][]byte
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			lines = append(lines, []byte(line))
		}
	}
	format = Detect(lines[:min(len(lines), DetectLines)], opt)
	if format == URLs {
		return format, nil, "", nil
	}
	p, err := New(format, opt)
	if err != nil {
		return format, nil, "", err
	}
	if s, ok := p.(Sampler); ok {
		field = s.Sample(lines[:min(len(lines), DetectLines)])
	}
	var r Row
	for _, line := range lines {
		switch p.Parse(line, &r) {
		case IsRow:
			urls = append(urls, string(r.AppendURL(nil)))
		case Failed:
			return format, urls, field, p.Err()
		default:
		}
	}
	return format, urls, field, nil
}

// TestExports reads the heads of exports of common tools, in several languages and separators.
func TestExports(t *testing.T) {
	const a, b = "https://example.com/a.pdf", "https://example.com/b"
	want := []string{a, b}
	for _, test := range []struct{ name, text string }{
		{"Search Console", "Top pages,Clicks,Impressions,CTR,Position\n" + a + ",10,100,10%,3.2\n" + b + ",1,5,20%,1\n"},
		{"Search Console, German", "Häufigste Seiten;Klicks\n" + a + ";10\n" + b + ";1\n"},
		{"Search Console, French", "Pages les plus populaires,Clics\n" + a + ",10\n" + b + ",1\n"},
		{"Search Console, Spanish", "Páginas principales\tClics\n" + a + "\t10\n" + b + "\t1\n"}, //nolint:misspell // Spanish
		{"Search Console, Japanese", "上位のページ,クリック数,表示回数,CTR,掲載順位\n" + a + ",10,100,10%,3.2\n" + b + ",1,5,20%,1\n"},
		{"Analytics", "# ----------------------------------------\n# Landing page\n# Account: Example, Inc.\n#\n# Start date: 20260101\n# End date: 20260131\n" +
			"Landing page,Sessions\n" + a + ",5\n" + b + ",4\n,9\n"},
		{"Analytics, two tables", "# Pages\n# Start date: 20260101\nPage location,Views\n" + a + ",5\n" + b + ",4\n\n# Start date: 20260101\nNth day,Views\n0001,5\n"},
		{"Screaming Frog", "\"Address\",\"Content Type\",\"Redirect URL\"\n\"" + a + "\",\"text/html; charset=UTF-8\",\"https://example.com/c\"\n\"" + b + "\",\"text/html\",\"\"\n"},
		{"Screaming Frog, links", "\"Type\",\"Source\",\"Destination\",\"Anchor\"\n\"Hyperlink\",\"https://example.com/\",\"" + a + "\",\"a, b\"\n\"Hyperlink\",\"https://example.com/\",\"" + b + "\",\"\"\n"},
		{"Ahrefs, links", "Referring page title\tReferring page URL\tTarget URL\nx\thttps://other.example/1\t" + a + "\ny\thttps://other.example/2\t" + b + "\n"},
		{"Ahrefs, pages", "#,URL,Traffic\n1," + a + ",9\n2," + b + ",8\n"},
		{"Bing", "\"Page\",\"Impressions\",\"Clicks\"\n\"" + a + "\",\"10\",\"1\"\n\"" + b + "\",\"9\",\"1\"\n"},
		{"Excel", "sep=;\nURL;Preis\n" + a + ";3,50\n" + b + ";4,00\n"},
		{"pipes", "id|Address|n\n1|" + a + "|2\n2|" + b + "|2\n"},
		{"one column", "Address\n" + a + "\n" + b + "\n"},
		{"one column with commas", "url\nhttps://example.com/a.pdf\nhttps://example.com/b\n"},
		{"spaces around", "name, url \nx, " + a + " \ny,\t" + b + "\n"},
		{"a postal address", "name,address,website of them\nx,\"Long Street 1, Town\"," + a + "\ny,Short Street 2," + b + "\n"},
		{"no known name", "Titel|Wohin\nx|" + a + "\ny|" + b + "\n"},
		{"uneven, with a known name", "url,n\n" + a + ",1\n" + b + ",2\nhttps://example.com/c,3,4\n"},
	} {
		format, urls, _, err := readTable(test.text, Options{})
		if err != nil || format == URLs || !slices.Equal(urls, want) {
			t.Errorf("%s: %s, %q, %v", test.name, format, urls, err)
		}
	}
}

// TestUnknownTables holds what becomes of tables whose names say nothing.
func TestUnknownTables(t *testing.T) {
	for _, test := range []struct {
		name, text string
		base       robots.Origin
		format     Format
		field      string
		err        error
	}{
		{"no URLs", "Top queries,Clicks\nshoes,3\nred shoes,2\n", "", CSV, "", ErrNoURL},
		{"two columns of URLs", "von;nach\nhttps://a.example/;https://b.example/\nhttps://a.example/2;https://b.example/2\n", "", CSV, "", ErrManyURLs},
		{"no header", "1,https://a.example/\n2,https://a.example/2\n", "", CSV, "", ErrNoHeader},
		{"one column of URLs", "x,y\nhttps://a.example/,1\nhttps://a.example/,2\n", "", CSV, "x", nil},
		{"paths", "x;y\n/a;1\n/b;2\n", "https://a.example", CSV, "x", nil},
		{"paths of no site", "x;y\n/a;1\n/b;2\n", "", CSV, "x", ErrNoBase},
		{"URLs before paths", "x;y\n/a;https://a.example/1\n/b;https://a.example/2\n", "https://a.example", CSV, "y", nil},
		{"a list that begins with a URL", "https://a.example/,1\nhttps://a.example/,2\n", "", URLs, "", nil},
		{"a list that begins with a path", "/a,1\n/b,2\n", "https://a.example", URLs, "", nil},
		{"one line", "x,y\n", "", URLs, "", nil},
		{"uneven", "x,y\nhttps://a.example/\n", "", URLs, "", nil},
		{"no separator", "list of mine\nhttps://a.example/\n", "", URLs, "", nil},
		{"notes above a list", "# mine, all\nhttps://a.example/,1\n", "", URLs, "", nil},
	} {
		opt := Options{Base: test.base}
		format, _, field, err := readTable(test.text, opt)
		if format != test.format || field != test.field || !errors.Is(err, test.err) || test.err == nil && err != nil {
			t.Errorf("%s: %s, field %q, %v", test.name, format, field, err)
		}
	}
}
