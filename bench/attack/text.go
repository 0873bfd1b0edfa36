//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A textFormat is a format whose rows are lines, or records of a table.
type textFormat struct {
	name    string // of -format
	oneSite bool   // the lines have paths only
	head    string // lines in front of the rows
	quoted  bool   // a field in quotes may hold line ends
	line    func(r *rand.Rand, url string) string
}

const (
	agentText = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	w3cHead   = "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n" +
		"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status time-taken\n"
	cloudfrontHead = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status " +
		"cs(Referer) cs(User-Agent) cs-uri-query x-edge-result-type x-host-header cs-protocol time-taken\n"
)

// parts returns the scheme, host, path and query of a made-up URL; "-" stands for no query.
func parts(url string) (scheme, host, path, query string) {
	scheme, rest, _ := strings.Cut(url, "://")
	at := strings.IndexByte(rest, '/')
	path, query, ok := strings.Cut(rest[at:], "?")
	if !ok {
		query = "-"
	}
	return scheme, rest[:at], path, query
}

func clock(r *rand.Rand) string {
	return fmt.Sprintf("%02d:%02d:%02d", r.IntN(24), r.IntN(60), r.IntN(60))
}

var textFormats = []textFormat{
	{name: "urls", line: func(_ *rand.Rand, url string) string { return url }},
	{name: "combined", oneSite: true, line: func(r *rand.Rand, url string) string {
		return fmt.Sprintf(`203.0.113.%d - - [10/Oct/2025:%s +0000] "GET %s HTTP/1.1" 200 %d "https://ref.example/" "%s"`,
			r.IntN(256), clock(r), strings.TrimPrefix(url, site), r.IntN(1e5), agentText)
	}},
	{name: "json", line: func(r *rand.Rand, url string) string {
		return fmt.Sprintf(`{"time":"2025-10-10T%sZ","status":%d,"url":"%s","user_agent":"%s"}`, clock(r), 200+r.IntN(300), url, agentText)
	}},
	{name: "csv", head: "status,url,user_agent,when\n", quoted: true, line: func(r *rand.Rand, url string) string {
		return fmt.Sprintf(`%d,%s,"%s, ""x""",2025-10-10 %s`, 200+r.IntN(300), url, agentText, clock(r))
	}},
	{name: "tsv", head: "status\turl\tuser_agent\n", line: func(r *rand.Rand, url string) string {
		return fmt.Sprintf("%d\t%s\t%s", 200+r.IntN(300), url, agentText)
	}},
	{name: "w3c", oneSite: true, head: w3cHead, line: func(r *rand.Rand, url string) string {
		_, _, path, query := parts(url)
		return fmt.Sprintf("2025-10-10 %s 10.0.0.1 GET %s %s 443 - 203.0.113.%d Mozilla/5.0+(bot) 200 %d", clock(r), path, query, r.IntN(256), r.IntN(999))
	}},
	{name: "cloudfront", head: cloudfrontHead, line: func(r *rand.Rand, url string) string {
		scheme, host, path, query := parts(url)
		return fmt.Sprintf("2025-10-10\t%s\tFRA56-P1\t%d\t203.0.113.7\tGET\td1.cloudfront.net\t%s\t200\t-\tcurl/8.5.0\t%s\tHit\t%s\t%s\t0.001",
			clock(r), r.IntN(9999), path, query, host, scheme)
	}},
	{name: "alb", line: func(r *rand.Rand, url string) string {
		return fmt.Sprintf(`https 2025-10-10T%s.945958Z app/lb/50dc6c495c0c9188 192.0.2.131:%d 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET %s HTTP/1.1" "%s" ECDHE TLSv1.2 arn:aws "Root=1" "www.example.com" "-" 1 2025-10-10T23:39:43.895000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_1`,
			clock(r), 1024+r.IntN(60000), url, agentText)
	}},
	{name: "cdxj", line: func(r *rand.Rand, url string) string {
		return fmt.Sprintf(`example,x)/%x 20251010%s {"url": "%s", "mime": "text/html", "status": "200", "length": "%d"}`,
			r.Uint32(), strings.ReplaceAll(clock(r), ":", ""), url, r.IntN(1e5))
	}},
}

// A base is an input that nobody has damaged yet, and its true answers.
type base struct {
	data   []byte
	rows   []row             // in order
	urls   map[string]row    // by URL, without a line
	lines  map[string]string // URL by line, in a textFormat
	text   []byte            // the text of packed data
	about  map[string][]byte // the text that stands for an origin each, in rules
	others []*base           // bases whose parts may come to be in it
	parts  [][]byte          // the text that stands for a row each, in a WARC file
	rare   bool              // a run on it takes seconds, so it is damaged rarely
}

// has reports whether a row of a run that failed is one of the base, or of another of its format,
// wherever it stands. A row without an answer is no claim.
func (b *base) has(r row) bool {
	if r.Allowed == nil {
		return true
	}
	for _, other := range append(b.others, b) {
		if want, ok := other.urls[r.URL]; ok {
			return same(want, r)
		}
	}
	return false
}

// newBase returns a base without data of so many rows.
func (a *attack) newBase(r *rand.Rand, rows int, oneSite bool) *base {
	b := &base{urls: map[string]row{}, lines: map[string]string{}}
	for i := range rows {
		decided := a.oracle.decide(int64(i+1), []byte(madeUp(r, i, oneSite)))
		b.rows = append(b.rows, decided)
		b.urls[decided.URL] = decided
	}
	return b
}

// textBase returns a base of a format.
func (a *attack) textBase(f *textFormat, r *rand.Rand, rows int) *base {
	b := a.newBase(r, rows, f.oneSite)
	text := []byte(f.head)
	before := int64(bytes.Count(text, []byte("\n")))
	for i := range b.rows {
		line := f.line(r, b.rows[i].URL)
		b.rows[i].Line += before
		b.lines[line] = b.rows[i].URL
		text = append(append(text, line...), '\n')
	}
	b.data = text
	return b
}

// A judgement is the behaviour of a run on damaged input.
type judgement uint8

const (
	whole    judgement = iota // exit code 0, and all rows are true of the bytes that it was given
	warned                    // exit code 0, and a warning or a count says that something is missing
	refused                   // exit code 2, and all rows are true, or said not to be verified
	unseen                    // exit code 0, and the format has nothing that shows the damage: the rows fit the bytes
	wrong                     // none of these
	harmless                  // the damage changed nothing
)

var judgements = []string{whole: "whole", warned: "warned", refused: "refused", unseen: "unseen", wrong: "WRONG", harmless: "harmless"}

// judgeText judges the rows of a text that was damaged, by reading it line by line.
func (a *attack) judgeText(f *textFormat, b *base, text []byte, res *result) (judgement, string) {
	want, loose := a.expect(f, b, text)
	last, lost := int64(0), false
	found := map[int64]bool{}
	for _, got := range res.rows {
		if got.Line <= last && len(res.rows) > 0 && last > 0 {
			return wrong, fmt.Sprintf("after line %d comes %v", last, got)
		}
		last = got.Line
		found[got.Line] = true
		if res.code != 0 && got.Allowed == nil {
			continue // it claims nothing
		}
		if loose && f.isOfPath(want, got) {
			lost = lost || !same(want.rows[got.Line], got)
			continue
		}
		if reason := a.judgeLine(f, want, got); reason != "" {
			return excused(res, got.Line, loose, reason)
		}
	}
	if res.code != 0 {
		return refused, ""
	}
	for line, w := range want.rows {
		if !found[line] {
			return excused(res, line, loose, fmt.Sprintf("missing: %v", w))
		}
	}
	if n := int64(want.nonEmpty) - res.stats.Counts.URLs - res.stats.refused() - res.stats.Counts.HeaderLines; n != 0 && !f.quoted {
		return excused(res, 0, loose, fmt.Sprintf("%d lines are not counted", n))
	}
	switch {
	case res.warned() || res.stats.refused() > 0:
		return warned, ""
	case lost:
		return unseen, ""
	}
	return whole, ""
}

// isOfPath reports whether a row has the path of its line. Scheme, host and query have fields of their
// own in some formats: if the header calls such a field otherwise, it is any field.
func (f *textFormat) isOfPath(want expectation, got row) bool {
	if f.name != "w3c" && f.name != "cloudfront" || want.rows[got.Line].URL == "" || !strings.Contains(got.URL, "://") {
		return false
	}
	_, rest, _ := strings.Cut(got.URL, "://")
	at := strings.IndexByte(rest, '/')
	_, _, path, _ := parts(want.rows[got.Line].URL)
	path2, _, _ := strings.Cut(rest[max(0, at):], "?")
	return path == path2
}

// excused returns the judgement of a row that is not as it should be: warned if the run says that
// something is, refused if it says that the row is not verified.
func excused(res *result, line int64, loose bool, reason string) (judgement, string) {
	from, ok := res.unverifiedFrom()
	switch {
	case res.code != 0 && ok && line >= from:
		return refused, ""
	case res.code == 0 && res.warned(), loose && res.stats.refused() > 0:
		return warned, ""
	}
	return wrong, reason
}

// An expectation has the known facts of the rows of a damaged text.
type expectation struct {
	rows     map[int64]row    // those that must be there, by line
	damaged  map[int64][]byte // lines whose row may be anything that the line says, or missing
	nonEmpty int
}

// expect returns the known facts of a damaged text. It is loose if the damage is to a part that says how all
// lines are read: a header, or a quote.
func (a *attack) expect(f *textFormat, b *base, text []byte) (e expectation, loose bool) {
	e = expectation{rows: map[int64]row{}, damaged: map[int64][]byte{}}
	if f.quoted {
		return a.expectTable(b, text)
	}
	heads := cut([]byte(f.head))
	loose = f.head != "" && !bytes.HasPrefix(bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r"), nil), []byte(f.head))
	for i, line := range cut(text) {
		n := int64(i + 1)
		if len(line) == 0 {
			continue
		}
		e.nonEmpty++
		url, known := b.lines[string(line)]
		switch {
		case f.name == "urls":
			e.rows[n] = a.oracle.decide(n, bytes.Trim(line, " \t"))
		case known:
			e.rows[n] = b.urls[url]
		case i < len(heads) && bytes.Equal(line, heads[i]) && !loose:
		default:
			e.damaged[n] = line
			loose = loose || line[0] == '#'
		}
	}
	return e, loose
}

// expectTable is expect for records whose fields may hold line ends, as package csv reads them. Where
// that package fails, only the rows before are known.
func (a *attack) expectTable(b *base, text []byte) (e expectation, loose bool) {
	e = expectation{rows: map[int64]row{}, damaged: map[int64][]byte{}}
	all := cut(text)
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	column := 1 // of the URL
	loose = err != nil || strings.Join(header, ",") != "status,url,user_agent,when"
	for !loose {
		fields, err := r.Read()
		if err != nil {
			loose = len(e.rows) < len(all)-1
			break
		}
		n, _ := r.FieldPos(0)
		if isHeader(fields, header) {
			column = slices.IndexFunc(fields, func(name string) bool { return strings.EqualFold(trimName(name), "url") })
			continue
		}
		if len(fields) == len(header) && fields[column] != "" && !strings.ContainsAny(fields[column], "\r\n") {
			url := strings.Trim(fields[column], " \t")
			if strings.HasPrefix(url, "/") {
				url = site + url // of -base
			}
			e.rows[int64(n)] = a.oracle.decide(int64(n), []byte(url))
		}
	}
	for i, line := range all {
		if n := int64(i + 1); loose || e.rows[n].Line == 0 {
			e.damaged[n] = line
			delete(e.rows, n)
			if url, ok := b.lines[string(line)]; ok && loose && b.urls[url].URL != "" {
				e.rows[n] = b.urls[url]
			}
		}
	}
	return e, loose
}

// isHeader reports whether a record has the names of a header, in any order.
func isHeader(record, header []string) bool {
	sorted := func(names []string) string {
		names = slices.Clone(names)
		for i, name := range names {
			names[i] = strings.ToLower(trimName(name))
		}
		slices.Sort(names)
		return strings.Join(names, "\n")
	}
	return sorted(record) == sorted(header)
}

// trimName returns a name of a header without blanks, and without a mark of UTF-8 that was joined with it.
func trimName(name string) string { return strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")) }

// judgeLine returns the fault of a row, "" if nothing is.
func (a *attack) judgeLine(f *textFormat, want expectation, got row) string {
	if w, ok := want.rows[got.Line]; ok {
		if !same(w, got) {
			return fmt.Sprintf("%v, want %v", got, w)
		}
		return ""
	}
	line, ok := want.damaged[got.Line]
	if !ok {
		return fmt.Sprintf("%v, and there is no such line", got)
	}
	if got.Allowed == nil {
		return ""
	}
	if !saysURL(f, line, got.URL) {
		return fmt.Sprintf("%v is not in its line %q", got, line)
	}
	if w := a.oracle.decide(got.Line, []byte(got.URL)); !same(w, got) {
		return fmt.Sprintf("%v, and the reference says %v", got, w)
	}
	return ""
}

// saysURL reports whether a URL stands in a line, in one piece or in the parts where the format
// has fields.
func saysURL(f *textFormat, line []byte, url string) bool {
	text := written(line)
	var members map[string]any
	if at := bytes.IndexByte(line, '{'); (f.name == "json" || f.name == "cdxj") && at >= 0 && json.Unmarshal(line[at:], &members) == nil {
		texts := append(make([]string, 0, len(members)+1), text)
		for _, value := range members {
			texts = append(texts, fmt.Sprint(value)) // without the escapes of JSON
		}
		text = strings.Join(texts, "\n")
	}
	target := strings.TrimPrefix(url, site)
	if strings.Contains(text, target) {
		return true
	}
	_, rest, _ := strings.Cut(target, "://")
	if !strings.Contains(target, "://") {
		rest = target
	}
	for i := range len(rest) { // host, path and query, which may be of any bytes
		if !strings.Contains(text, rest[:i]) {
			return false
		}
		if strings.Contains(text, rest[i:]) {
			return true
		}
		// The query has a field of its own, and damage may have put other question marks into the path.
		for j := i; j < len(rest); j++ {
			if rest[j] == '?' && strings.Contains(text, rest[i:j]) && strings.Contains(text, rest[j+1:]) {
				return true
			}
		}
	}
	return false
}
