package weblog

import (
	"bytes"
	"encoding/csv"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robobatch/robobatch/robots"
)

// readTable detects the format of a text and reads its URLs, like package ingest.
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
		field = s.Sample(lines[:min(len(lines), DetectLines)]).Field
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

// TestExports reads the first lines of exports of common tools, in several languages and with several separators.
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
		{"Screaming Frog, with a title", "\"Internal - All\"\n\"Address\",\"Status Code\",\"rel=\"\"next\"\" 1\",\"% of Total\"\n\"" + a + "\",\"200\",\"\",\"1\"\n\"" + b + "\",\"200\",\"\",\"1\"\n"},
		{"a title with tabs below", "Pages, all of them\nid\tURL\n1\t" + a + "\n2\t" + b + "\n"},
		{"a quoted title with commas", "\"Pages, all\"\nURL,n\n" + a + ",1\n" + b + ",2\n"},
		{"a title and few rows", "Report\nurl;n\n" + a + ";1\n" + b + ";2\n"},
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
		urls = slices.DeleteFunc(urls, func(url string) bool { return url == "" }) // from a line of totals
		if err != nil || format == URLs || !slices.Equal(urls, want) {
			t.Errorf("%s: %s, %q, %v", test.name, format, urls, err)
		}
	}
}

// TestUnknownTables reads tables without known names.
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
		{"IIS's own", "192.0.2.1, -, 03/20/01, 7:55:20, W3SVC2, SERVER, 192.0.2.9, 4502, 163, 3223, 200, 0, GET, /a.gif, -,\n192.0.2.2, -, 03/20/01, 7:57:20, W3SVC2, SERVER, 192.0.2.9, 411, 221, 1967, 200, 0, GET, /b.css, -,\n", "", CSV, "", ErrNativeIIS},
		{"like IIS's own, with a header", "a,b,c,d,W3SVC\nhttps://a.example/,1,2,3,4\n", "", CSV, "a", nil},
		{"one column of URLs", "x,y\nhttps://a.example/,1\nhttps://a.example/,2\n", "", CSV, "x", nil},
		{"paths", "x;y\n/a;1\n/b;2\n", "https://a.example", CSV, "x", nil},
		{"paths of no site", "x;y\n/a;1\n/b;2\n", "", CSV, "x", ErrNoBase},
		{"URLs before paths", "x;y\n/a;https://a.example/1\n/b;https://a.example/2\n", "https://a.example", CSV, "y", nil},
		{"a list that begins with a URL", "https://a.example/,1\nhttps://a.example/,2\n", "", URLs, "", nil},
		{"a list that begins with a path", "/a,1\n/b,2\n", "https://a.example", URLs, "", nil},
		{"one line", "x,y\n", "", URLs, "", nil},
		{"uneven", "x,y\nhttps://a.example/\n", "", URLs, "", nil},
		{"no separator", "list of mine\nhttps://a.example/\n", "", URLs, "", nil},
		{"a title of a list", "list of mine\nhttps://a.example/,url\n", "", URLs, "", nil},
		{"a title above names that are not known", "Report\nx,y\nhttps://a.example/,1\n", "", URLs, "", nil},
		{"notes above a list", "# mine, all\nhttps://a.example/,1\n", "", URLs, "", nil},
	} {
		opt := Options{Base: test.base}
		format, _, field, err := readTable(test.text, opt)
		if format != test.format || field != test.field || !errors.Is(err, test.err) || test.err == nil && err != nil {
			t.Errorf("%s: %s, field %q, %v", test.name, format, field, err)
		}
	}
}

// Regular expressions for URLs, and for paths and request lines.
var (
	urlValue     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	requestValue = regexp.MustCompile(`(?s)^[A-Za-z_-]{1,32} (/|.* HTTP/[^ ]*$)`)
)

// An obviousTable is the result of a simple reader, which splits a text by each separator with encoding/csv, and
// follows docs/FORMATS.md.
type obviousTable struct {
	isTable bool
	urls    []string
	err     error
}

// readObvious reads lines that match no other format. ok is false for texts that it does not support: records over
// several lines, and broken quotes.
func readObvious(text string, base robots.Origin) (table obviousTable, ok bool) {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	named := rune(0)
	switch first := []rune(lines[0]); {
	case len(lines[0]) == 5 && strings.HasPrefix(lines[0], "sep="):
		if named = first[4]; !strings.ContainsRune(",;\t|", named) {
			return table, false
		}
		lines = lines[1:]
	case first[0] == '#' && strings.Contains(text, `"`):
		return table, false
	case first[0] == '#' && !strings.ContainsAny(lines[0], "\t,;|"):
		for len(lines) > 0 && lines[0][0] == '#' {
			lines = lines[1:]
		}
		if slices.ContainsFunc(lines, func(line string) bool { return line[0] == '#' }) {
			return table, false
		}
	}
	if named == 0 && lines[0][0] != '#' && len(lines) > 1 && isObviousTitle(lines[0], lines[1]) {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return table, true
	}
	by := map[rune][][]string{}
	even, fields := rune(0), 1
	for _, sep := range "\t,;|" {
		r := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
		r.Comma, r.FieldsPerRecord = sep, -1
		records, err := r.ReadAll()
		if err != nil || len(records) != len(lines) {
			return table, false
		}
		by[sep] = records
		n := len(records[0])
		uneven := func(record []string) bool { return len(record) != n }
		if len(records) > 1 && n > fields && !slices.ContainsFunc(records[:min(10, len(records))], uneven) {
			even, fields = sep, n
		}
	}
	first := lines[0]
	if first[0] == '{' || first[0] == '/' || urlValue.MatchString(strings.Trim(first, " \t")) {
		return table, true
	}
	sep, most := even, 1
	for _, s := range ",;\t|" {
		if n := len(by[s][0]); even == 0 && n > most {
			sep, most = s, n
		}
	}
	if named != 0 {
		sep = named
	}
	records := by[sep]
	if sep == 0 {
		records = nil
		for _, line := range lines {
			if strings.HasPrefix(line, `"`) {
				return table, false
			}
			records = append(records, []string{line})
		}
	}
	names := records[0]
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	known := -1
	for _, name := range urlNames() {
		if i := slices.IndexFunc(names, func(n string) bool { return keyOf(n) == keyOf(name) }); i >= 0 && known < 0 {
			known = i
		}
	}
	if (known < 0 || strings.Contains(first, "://")) && (even == 0 || first[0] == '#') {
		return table, true
	}
	table.isTable = true
	column, err := obviousColumn(names, records[1:])
	if table.err = err; err != nil {
		return table, true
	}
	if column < 0 {
		if column = known; column < 0 {
			table.err = ErrNoURL
			return table, true
		}
	}
	for _, record := range records[1:] {
		if len(record) != len(names) {
			continue
		}
		switch value := strings.Trim(record[column], " \t"); {
		case value == "":
		case requestValue.MatchString(value):
			return table, false
		case value[0] != '/' && value[0] != '?':
			table.urls = append(table.urls, value)
		case base == "":
			table.err = ErrNoBase
			return table, true
		default:
			table.urls = append(table.urls, string(base)+value)
		}
	}
	return table, true
}

// isObviousTitle reports whether a line is a title with a single field, before a header row with a known name.
func isObviousTitle(line, below string) bool {
	for _, text := range []string{line, below} {
		if text[0] == '{' || text[0] == '/' || urlValue.MatchString(strings.Trim(text, " \t")) {
			return false
		}
	}
	split := func(text string, sep rune) []string {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma = sep
		fields, err := r.Read()
		if err != nil {
			return nil
		}
		return fields
	}
	isKnown := func(name string) bool {
		return slices.ContainsFunc(urlNames(), func(k string) bool { return keyOf(k) == keyOf(strings.TrimSpace(name)) })
	}
	sep, most := rune(0), 1
	for _, s := range ",;\t|" {
		if n := len(split(below, s)); n > most {
			sep, most = s, n
		}
	}
	if sep == 0 {
		return false
	}
	title, names := split(line, sep), split(below, sep)
	isURLOrPath := func(name string) bool {
		return strings.HasPrefix(name, "/") || urlValue.MatchString(strings.Trim(name, " \t"))
	}
	return len(title) == 1 && !isKnown(title[0]) && slices.ContainsFunc(names, isKnown) && !slices.ContainsFunc(names, isURLOrPath)
}

// urlNames returns the known names for the URL, those of any program first.
func urlNames() (names []string) {
	for _, own := range []bool{true, false} {
		for _, r := range []role{roleURL, roleRequest, rolePath} {
			for _, e := range fieldTable().all {
				if known := entriesOf(e.name, ""); e.role == r && (e.producer == anyProducer) == own && len(known) > 0 && known[0].role == r {
					names = append(names, e.name)
				}
			}
		}
	}
	return names
}

// obviousColumn returns the column according to names and values, -1 if the values do not decide.
func obviousColumn(names []string, rows [][]string) (int, error) {
	var urls, others []int
	for i := range names {
		var all, whole, part float64
		for _, row := range rows {
			value := ""
			if i < len(row) {
				value = strings.Trim(row[i], " \t")
			}
			switch {
			case value == "":
			case urlValue.MatchString(value):
				all, whole = all+1, whole+1
			case value[0] == '/' || requestValue.MatchString(value):
				all, part = all+1, part+1
			default:
				all++
			}
		}
		if whole > all/2 {
			urls = append(urls, i)
		} else if whole+part > all/2 {
			others = append(others, i)
		}
	}
	for _, name := range urlNames() {
		if i := slices.IndexFunc(names, func(n string) bool { return keyOf(n) == keyOf(name) }); i >= 0 && slices.Contains(slices.Concat(urls, others), i) {
			return i, nil
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "/") || urlValue.MatchString(name) {
			return -1, ErrNoHeader
		}
	}
	if len(urls) == 0 {
		urls = others
	}
	switch len(urls) {
	case 0:
		return -1, nil
	case 1:
		return urls[0], nil
	}
	return -1, ErrManyURLs
}

// FuzzDetectTable compares which texts are detected as tables, their URL column and their URLs with readObvious.
func FuzzDetectTable(f *testing.F) {
	for _, text := range []string{
		"Top pages,Clicks\nhttps://a.example/a.pdf,10\nhttps://a.example/b,1\n", "Häufigste Seiten;Klicks\nhttps://a/;1,2\n",
		"sep=;\nurl;n\nhttps://a/;1\n", "# notes\n# more\nPage path,Views\n/a,1\n/b,2\n", "a|b\n1|https://a/\n2|https://b/\n",
		"\"All - x\"\n\"Address\",\"n\"\n\"https://a/,b\",\"1\"\n", "x\nurl;n\nhttps://a/;1\n", "x;y\nurl,n\n/a,1\n",
		"\"Address\",\"n\"\n\"https://a/,b\",\"1\"\n", "url\nhttps://a/,1\n", "x\ty\n/a\t1\n", "1,https://a/\n2,https://a/2\n",
		"von;nach\nhttps://a/;https://b/\nhttps://a/;https://b/\n", "https://a/,1\nhttps://b/,1\n", "page,website\n1,http://a/\n",
	} {
		f.Add(text, "")
		f.Add(text, "https://base.example")
	}
	f.Fuzz(func(t *testing.T, text, base string) {
		if base != "" {
			base = "https://base.example"
		}
		lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		if strings.Contains(text, "\r") || !utf8.ValidString(text) || len(lines) == 0 || len(lines) > DetectLines {
			return
		}
		for _, line := range lines {
			if combinedFormat.isLine([]byte(line), signsOf([]byte(line))) || albFormat.isLine([]byte(line), signsOf([]byte(line))) || isJSON([]byte(line)) || isCDXJ([]byte(line)) || isW3C([][]byte{[]byte(line)}, Options{}) {
				return
			}
		}
		want, ok := readObvious(text, robots.Origin(base))
		if !ok {
			return
		}
		format, urls, _, err := readTable(text, Options{Base: robots.Origin(base)})
		if (format != URLs) != want.isTable || !errors.Is(err, want.err) || want.err == nil && err != nil || !slices.Equal(urls, want.urls) {
			t.Errorf("%q at %q is %s, %q, %v, want table %t, %q, %v", text, base, format, urls, err, want.isTable, want.urls, want.err)
		}
	})
}

// TestEvenRows checks how many of the first lines must have the same number of fields in a table without a known name.
func TestEvenRows(t *testing.T) {
	for odd, want := range map[int]Format{evenRows - 1: URLs, evenRows: CSV} {
		lines := make([][]byte, 2*evenRows)
		for i := range lines {
			lines[i] = []byte("one,two")
		}
		lines[odd] = []byte("one")
		if got := Detect(lines, Options{}); got != want {
			t.Errorf("line %d of one field: %v, want %v", odd+1, got, want)
		}
	}
	if evenRows != 10 { // docs/FORMATS.md
		t.Errorf("%d lines", evenRows)
	}
}

// TestHeadless distinguishes tables without a header row from URLs with commas.
func TestHeadless(t *testing.T) {
	for text, want := range map[string]bool{
		"https://a.example/,1\nhttps://a.example/b,20":                true,
		"/a|10|5 %\n/b|2|0.5%":                                        true,
		"https://a.example/;https://b.example/\nhttp://c.example/;/x": false,
		"https://a.example/,x\nhttps://a.example/b,y":                 false,
		"https://a.example/,1":                                        false,
		"https://a.example/,1\nhttps://a.example/b":                   false,
		"https://a.example/,1\nhttps://a.example/b,c":                 false,
		"https://a.example/\t1\nhttps://a.example/b\t2":               false,
	} {
		if got := IsHeadless(bytes.Split([]byte(text), []byte("\n"))); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
