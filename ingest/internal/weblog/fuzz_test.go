package weblog

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// seedLines adds the lines of samples to the corpus.
func seedLines(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "formats", name))
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			f.Add(bytes.TrimRight(line, "\r\n"))
		}
	}
}

// isLine reports whether data can be a line: package ingest passes no empty ones.
func isLine(data []byte) bool { return len(data) > 0 && bytes.IndexByte(data, '\n') < 0 }

// everything requests all fields of a format.
func everything(tb testing.TB, format Format, keep ...string) Parser {
	tb.Helper()
	p, err := New(format, Options{Base: "https://base.example", Keep: keep, Agents: true, Times: true})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// checkRow checks what every row must satisfy.
func checkRow(t *testing.T, r *Row, keep int) {
	t.Helper()
	if len(r.Fields) != keep {
		t.Errorf("%d fields, want %d", len(r.Fields), keep)
	}
	if r.Scheme != "" && (len(r.Host) == 0 || r.Target[0] != '/' && r.Target[0] != '?') {
		t.Errorf("a path %q at %q", r.Target, r.Host)
	}
}

// Every accepted line must match combinedLine. A line that matches plainLine must be accepted, unless it matches
// longLine, which has more fields before its time. Fields end at spaces, not at other white space, which scanners also
// send.
var (
	combinedLine = regexp.MustCompile(`(?s)^([^ ]* .*?) \[([^\[]*?)\] "((?:[^\\]|\\.)*?)" (-1|-|0|[0-9]{3})(?: |$)`)
	plainLine    = regexp.MustCompile(`^[^ "\[\]]+ [^ "\[\]]+ [^"\[\]]+ \[[^"\[\]]*\] "[^"\\]*" (-|[0-9]{3}) (-|[0-9]+)( "[^"\\]*" "[^"\\]*")?$`)
	longLine     = regexp.MustCompile(`^[^ ]+ [^ ]+ (- [^\[]*|[^\[]* -) \[`)
)

// checkUsual checks that lines have the same fields with splitUsual and without.
func checkUsual(t *testing.T, p *pattern, line []byte) {
	t.Helper()
	var usual, others [maxFields][]byte
	n, result := p.split(line, usual[:], bytes.IndexByte(line, '\\') < 0)
	m, want := p.split(line, others[:], false)
	if n != m || result != want || result == IsRow && !reflect.DeepEqual(usual[:n], others[:n]) {
		t.Fatalf("%q: %s, %q with splitUsual; %s, %q without", line, result, usual[:n], want, others[:m])
	}
}

// FuzzCombined compares the parser with regular expressions: the accepted lines, their requests and times.
func FuzzCombined(f *testing.F) {
	seedLines(f, "nginx-combined.log", "nginx-vhost.log", "nginx-extra.log", "apache-common.log", "apache-vhost.log")
	f.Add([]byte("\r   [] \"\" 000"))
	f.Add([]byte("0 00  - [] \"\" 000 0"))
	for _, user := range []string{"-", "ann", ""} { // usual lines, but for one field
		for _, moment := range []string{"03/Mar/2026:10:15:00 +0000", "03/Mar/2026:[0:15:00 +0000", "03/Mar/2026:10:15:00 +]000", "2026-03-03T10:15:00Z"} {
			for _, rest := range []string{`200 5 "-" "a b"`, `200 - "" ""`, `200 512 "-x" "a" "b" "c"`, `- 0 "-" "-"`, `2000 0 "a" "b"`, `200 5 "a"`, `200 5 "a" "b"c"`} {
				f.Add(fmt.Appendf(nil, `192.0.2.1 - %s [%s] "GET / HTTP/1.1" %s`, user, moment, rest))
			}
		}
	}
	p := everything(f, Combined, NameStatus, NameReferer, NameTime, "request")
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		for _, p := range p.(*lineLog).patterns {
			checkUsual(t, p, line)
		}
		var r Row
		result := p.Parse(line, &r)
		if result != IsRow {
			if !result.Refused() || plainLine.Match(line) && !longLine.Match(line) {
				t.Errorf("%q: %s", line, result)
			}
			return
		}
		checkRow(t, &r, 4)
		m := combinedLine.FindSubmatch(line)
		if m == nil {
			t.Fatalf("%q is taken, and does not match", line)
		}
		for i, text := range map[int][]byte{2: m[2], 3: m[3]} {
			if want, _ := unescape(text, nil); !bytes.Equal(r.Fields[i], present(want)) {
				t.Errorf("%q: %q, want %q", line, r.Fields[i], want)
			}
		}
	})
}

// referencePatterns are patterns as users paste them, without fields that only known formats have.
var referencePatterns = []string{
	`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"`,
	`%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`,
	`[$time_local] $cache $upstream_status $status - $request_method $scheme $host "$request_uri" [Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip] "$http_user_agent" "$http_referer"`,
	`{"time":"$time_iso8601","host":"$host","request":"$request","status":$status,"agent":"$http_user_agent"}`,
	`$remote_addr|$host|$request_uri|$status|$http_user_agent`,
}

// referenceOf returns a regular expression that is equivalent to a pattern, and one that matches a line if no field
// contains text that looks like a separator. RE2 prefers the shortest fields from the left.
func referenceOf(text string) (loose, plain *regexp.Regexp) {
	text = strings.ReplaceAll(text, "%t", "[%t]")
	variable := regexp.MustCompile(`\$\w+|%>?(?:\{[^}]*\}i|[a-zA-Z])`)
	l, s, at := "(?s)^", "(?s)^", 0
	for _, m := range variable.FindAllStringIndex(text, -1) {
		front, name, behind := text[at:m[0]], text[m[0]:m[1]], text[m[1]:]
		l, s, at = l+regexp.QuoteMeta(front), s+regexp.QuoteMeta(front), m[1]
		switch isStatus := name == "$status" || name == "%>s"; {
		case isStatus:
			l, s = l+`(-1|-|0|[0-9]{3})`, s+`([0-9]{3})`
		case strings.HasSuffix(front, `"`):
			l, s = l+`((?:[^\\]|\\.)*?)`, s+`([^"\\]*)`
		case strings.HasSuffix(front, "["), strings.HasSuffix(front, "[Client "), name == "$remote_user", name == "%u":
			s += `([^"\\\[\] ]*)`
			if user := strings.TrimSuffix(text[:m[0]], " ["); strings.HasSuffix(user, "$remote_user") || strings.HasSuffix(user, "%u") {
				l += `([^\[]*?)`
			} else {
				l += `(.*?)`
			}
		case name == "%v":
			l, s = l+`([^ ]*)`, s+`([^"\\\[\]|: ]*)`
		case behind == "": // the rest of the line
			l, s = l+`(.*)`, s+`([^"\\\[\]|: ]*)`
		case !strings.Contains(text, " "): // spaces are not separators
			l, s = l+`(.*?)`, s+`([^"\\\[\]|: ]*)`
		default:
			l, s = l+`([^ ]*?)`, s+`([^"\\\[\]|: ]*)`
		}
	}
	return regexp.MustCompile(l + regexp.QuoteMeta(text[at:]) + "(?: .*)?$"), regexp.MustCompile(s + regexp.QuoteMeta(text[at:]) + "$")
}

// FuzzSplit compares the splitter with regular expressions made from the patterns: an accepted line must match with the
// same fields, and an unambiguous line must be accepted.
func FuzzSplit(f *testing.F) {
	seedLines(f, "nginx-combined.log", "nginx-extra.log", "apache-vhost.log", "nginx-request.jsonl")
	f.Add([]byte(`[03/Mar/2026:10:15:00 +0000] - 200 200 - GET https www.example.org "/" [Client 192.0.2.10] [Length 5120] [Gzip 2.10] "Mozilla/5.0" "-"`))
	f.Add([]byte(`{"time":"2026-03-03T10:15:00+00:00","host":"a.example","request":"GET /\"x HTTP/1.1","status":200,"agent":"a"}`))
	f.Add([]byte(`2001:db8::1|a.example|/x|200|bot`))
	type pair struct {
		p            *pattern
		loose, plain *regexp.Regexp
	}
	var pairs []pair
	for _, text := range referencePatterns {
		p, err := compilePattern(text)
		if err != nil {
			f.Fatal(err)
		}
		loose, plain := referenceOf(text)
		pairs = append(pairs, pair{p, loose, plain})
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		for i, pair := range pairs {
			var fields [maxFields][]byte
			checkUsual(t, pair.p, line)
			n, result := pair.p.split(line, fields[:], false)
			if result != IsRow || n < len(pair.p.fields) {
				if pair.plain.Match(line) {
					t.Fatalf("%d: %q: %d fields, %v", i, line, n, result)
				}
				continue
			}
			m := pair.loose.FindSubmatch(line)
			if m == nil && line[len(line)-1] == '"' { // a line may be truncated after a quote
				m = pair.loose.FindSubmatch(append(bytes.Clone(line), '}'))
			}
			if m == nil {
				t.Fatalf("%d: %q is taken as %q, and does not match", i, line, fields[:n])
			}
			for k, want := range m[1:] {
				if !bytes.Equal(fields[k], want) {
					t.Fatalf("%d: %q: %s is %q, want %q", i, line, pair.p.fields[k].name, fields[k], want)
				}
			}
		}
	})
}

// FuzzPattern compiles any pattern, and reads lines with it.
func FuzzPattern(f *testing.F) {
	for _, text := range append(referencePatterns, "log_format main '$host$request_uri '\n  '\"$status\"';", `LogFormat "%h \"%r\" %>s" x`, "%U%q", "$type $moment  $address:$x (?$uri$is_args$args)",
		`$remote_addr - - [$time_local] "$request`, `$address - - [$time_local] "$request"`, `$remote_addr (? $request`) {
		f.Add(text, []byte(`192.0.2.1 - - [10/Mar/2026:13:00:00 +0000] "GET /p HTTP/1.1" 200 512 "-" "x"`))
	}
	f.Fuzz(func(t *testing.T, text string, line []byte) {
		format, err := ParseFormat(text)
		if err != nil || !isLine(line) {
			return
		}
		p, err := New(format, Options{Base: "https://a.example", Agents: true, Times: true, Keep: []string{"status"}, Optional: []string{"status"}})
		if err != nil {
			return
		}
		var r Row
		if result := p.Parse(line, &r); result == IsRow {
			checkRow(t, &r, 1)
		}
	})
}

// FuzzW3C reads any text after a header.
func FuzzW3C(f *testing.F) {
	seedLines(f, "iis-w3c.log", "cloudfront.log")
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		for _, format := range []Format{W3C, CloudFront} {
			p := everything(t, format, NameTime)
			var r Row
			if result := p.Parse([]byte("#Fields: date time cs-uri-stem cs-uri-query x cs(User-Agent)"), &r); result != NoRow {
				t.Fatal(p.Err())
			}
			result := p.Parse(line, &r)
			fields := max(bytes.Count(line, []byte{' '}), 5*min(1, bytes.Count(line, []byte{'\t'})))
			if bytes.IndexByte(line, '\t') >= 0 {
				fields = bytes.Count(line, []byte{'\t'})
			}
			switch {
			case line[0] == '#':
				if result != NoRow && result != Failed {
					t.Errorf("%q: %s", line, result)
				}
			case (fields == 5) != (result == IsRow):
				t.Errorf("%q with %d fields: %s", line, fields+1, result)
			case result == IsRow:
				checkRow(t, &r, 1)
			}
		}
	})
}

// FuzzALB reads any line.
func FuzzALB(f *testing.F) {
	seedLines(f, "alb.log")
	p := everything(f, ALB, NameMethod, "trace_id")
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		var r Row
		switch result := p.Parse(line, &r); {
		case result == IsRow:
			checkRow(t, &r, 2)
		case !result.Refused():
			t.Errorf("%q: %s", line, result)
		}
	})
}

// FuzzJSON compares the scanner with encoding/json: which lines are valid, and the values.
func FuzzJSON(f *testing.F) {
	seedLines(f, "caddy.jsonl", "cloudflare.jsonl", "nginx-json.jsonl", "nginx-request.jsonl")
	f.Add([]byte(`{"a":{"b":[1,{"c":"\ud83d\ude00\ud800x"}]},"a.b":-0.5e+7,"a":{"b":null}, "url" : "\/" }`))
	f.Add([]byte(`{"a":{"b":[1,2]},"a":3,"u\u0072l":"x"}`))
	f.Add([]byte(`{"p":[{"key":"k","value":{"int_value":1}},{"value":{"string_value":"\u002fx","int_value":null},"key":"\u006b"},{"key":"k2","value":[{"key":"k"}]}]}`))
	f.Add([]byte(`{"p":[{"name":"k","value":"x"},{"name":"k"},{"name":"k","key":[1],"value":2},{"name":"x","key":"k","value":null}]}`))
	f.Add([]byte(`{"p":[{"key":"k","value":"x"},{"key":"k","value":null}],"a":[{"key":"b","value":true}]}`))
	paths := []string{"p.k", "a", "a.b", "a.b.1", "a.b.1.c", "url", "request.headers.User-Agent.0", "status", ""}
	var s jsonScanner
	for _, path := range paths {
		s.want(path)
	}
	p := everything(f, JSON, "a", NameStatus)
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		if ok := s.scan(line); ok != json.Valid(line) && !bytes.Contains(line, []byte(`\x`)) && bytes.Count(line, []byte{'['})+bytes.Count(line, []byte{'{'}) < maxDepth {
			t.Fatalf("%q: valid is %t", line, ok)
		} else if ok && utf8.Valid(line) {
			compareJSON(t, &s, line, paths)
			sampled := newJSON(Options{Base: "https://b.example", Agents: true, Times: true, Clients: true, ClientAt: 1, Keep: []string{"a", NameStatus}})
			sampled.Sample([][]byte{line, line})
			var r Row
			if result := sampled.Parse(line, &r); result == IsRow {
				checkRow(t, &r, 2)
			}
		}
		var r Row
		switch result := p.Parse(line, &r); {
		case result == IsRow:
			checkRow(t, &r, 2)
		case !result.Refused():
			t.Errorf("%q: %s", line, result)
		}
	})
}

// compareJSON compares the values at paths with those that encoding/json finds.
func compareJSON(t *testing.T, s *jsonScanner, line []byte, paths []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var all any
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		want, ok := find(all, strings.Split(path, "."))
		if object, isObject := all.(map[string]any); isObject {
			if _, whole := object[path]; whole {
				if strings.Contains(path, ".") && ok {
					continue // two members with the same path: either may count
				}
				want = object[path]
			}
		}
		var got any
		if s.values[i] != nil {
			got = string(s.values[i])
		}
		switch w := want.(type) {
		case json.Number:
			want = w.String()
		case bool:
			want = map[bool]string{true: "true", false: "false"}[w]
		case map[string]any, []any:
			if !s.nested[i] || !json.Valid(s.values[i]) {
				t.Errorf("%q: %s is %v", line, path, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q: %s is %q, want %q", line, path, got, want)
		}
	}
}

// find returns the value at a path.
func find(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		if member, ok := v[path[0]]; ok {
			return find(member, path[1:])
		}
	case []any:
		for i, element := range v {
			if path[0] == string(rune('0'+i)) && i < 10 {
				return find(element, path[1:])
			}
		}
		if len(path) == 1 {
			return findPair(v, path[0])
		}
	}
	return nil, false
}

// findPair returns the value of the last pair with a key.
func findPair(pairs []any, key string) (value any, ok bool) {
	for _, pair := range pairs {
		object, isObject := pair.(map[string]any)
		if !isObject || object["key"] != nil && !isScalar(object["key"]) {
			continue
		}
		var of any
		kinds, _ := object["value"].(map[string]any)
		for _, v := range []any{
			object["value.string_value"], kinds["string_value"], object["value.int_value"], kinds["int_value"], object["value.float_value"], kinds["float_value"],
			object["value.double_value"], kinds["double_value"], object["value"],
		} {
			if isScalar(v) {
				of = v
				break
			}
		}
		name := object["key"]
		if name == nil && of != nil && isScalar(object["name"]) {
			name = object["name"]
		}
		if name != nil && fmt.Sprint(name) == key {
			value, ok = of, true
		}
	}
	return value, ok
}

// isScalar reports whether a value exists and is not an object or array.
func isScalar(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// FuzzCSV compares a record with encoding/csv, which drops CR before LF, and empty lines.
func FuzzCSV(f *testing.F) {
	seedLines(f, "table.csv", "semicolons.csv", "table.tsv")
	f.Add([]byte("\"a\nb\",\"\"\"\",c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || data[0] == '\n' || data[len(data)-1] == '\n' || bytes.ContainsRune(data, '\r') || !utf8.Valid(data) {
			return
		}
		tab := &table{sep: ','}
		result := tab.split(data)
		cr := csv.NewReader(bytes.NewReader(data))
		record, err := cr.Read()
		if errors.Is(err, io.EOF) || err == nil && cr.InputOffset() != int64(len(data)) {
			return // an empty line, or more than one record
		}
		if (result == IsRow) != (err == nil) {
			t.Fatalf("%q: %s; encoding/csv says %v", data, result, err)
		}
		for i, want := range record {
			if len(record) != len(tab.values) || want != string(tab.values[i]) {
				t.Fatalf("%q: %q, want %q", data, tab.values, record)
			}
		}
		p := everything(t, CSV)
		var r Row
		p.Parse([]byte("url,x"), &r)
		if p.Parse(data, &r) == IsRow {
			checkRow(t, &r, 0)
		}
	})
}

// FuzzCDXJ reads any line.
func FuzzCDXJ(f *testing.F) {
	seedLines(f, "index.cdxj")
	p := everything(f, CDXJ, NameTime, "mime")
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		var r Row
		switch result := p.Parse(line, &r); {
		case result == IsRow:
			checkRow(t, &r, 2)
		case !result.Refused() && line[0] != '!' && line[0] != ' ':
			t.Errorf("%q: %s", line, result)
		}
	})
}

// FuzzTime parses any text as a time. The result must be within the years 1 to 9999. A Clock must read the same from that
// text and a text with two other bytes, in any order.
func FuzzTime(f *testing.F) {
	for _, text := range []string{"31/Jan/2026:18:00:00 +0100", "2026-01-31T18:00:00.5Z", "20260131180000", "1769882400.123", "1.7e9"} {
		f.Add([]byte(text), uint8(18), byte('5'), byte('9'))
		f.Add([]byte(text), uint8(17), byte('6'), byte('0'))
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint8, one, two byte) {
		const years = 366 * 24 * 3600 * 1e6
		if got := ParseTime(text); got != NoTime && (got < -1971*years || got > 8030*years) {
			t.Errorf("%q is %d", text, got)
		}
		other := bytes.Clone(text)
		copy(other[min(int(at), len(other)):], []byte{one, two})
		var clock Clock
		for _, text := range [][]byte{text, other, other, text} {
			if got, want := clock.Read(text), ParseTime(text); got != want {
				t.Errorf("%q is %d by a Clock, want %d", text, got, want)
			}
		}
	})
}

// shapeParts are regular expressions for the parts of shapes of prefixes.
var shapeParts = map[string]string{
	"%d": `[0-9]+`, "%s": ` +`, "%w": `[^ ]+?`, "%t": `[^ ]+:`, "%f": `[^: "\[{]+`, "%M": `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`,
	"%C": `[0-9]{2}:[0-9]{2}:[0-9]{2}[^ ]*`, "%D": `[0-9]{4}-[0-9]{2}-[0-9]{2}`, "%T": `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[^ ]*`,
	"%F": `[FP]`, "%S": `(?:-|[^-].*?\]|\])`, "%j": `.*?[ \t]`,
}

// FuzzPrefix compares prefixes with regular expressions, and reads lines in any format that is chosen for them.
func FuzzPrefix(f *testing.F) {
	seedLines(f, "heroku.log", "ltsv.log", "elb.log", "nginx-json.jsonl")
	f.Add([]byte(`<190>Mar  3 10:15:00 web-01 nginx: 192.0.2.10 - - [03/Mar/2026:10:15:00 +0000] "GET / HTTP/1.1" 200 5120`))
	f.Add([]byte(`<190>1 2026-03-03T10:15:00+01:00 web-01 nginx - - [a@1 b="c d"] {"url":"/x"}`))
	f.Add([]byte(`{"log":"192.0.2.10 - - [03/Mar/2026:10:15:00 +0000] \"GET / HTTP/1.1\" 200 5120\n","time":"2026-03-03T10:15:00Z"}`))
	f.Add([]byte(`{"message":"192.0.2.10 - - [03/Mar/2026:10:15:00 +0000] \"GET / HTTP/1.1\" 200 5120","@timestamp":"2026-03-03T10:15:00Z"}`))
	f.Add([]byte(`2026-03-03T10:15:00.1+01:00 stdout P 192.0.2.10 - - [03/Mar/2026:10:15:00 +0000] "GET / HTTP/1.1" 200 5120`))
	f.Add([]byte(`[pod/web-1/nginx] 2026-03-03T10:15:00+01:00 at=info method=GET path="/\"x" status=200`))
	var expressions []*regexp.Regexp
	for _, shape := range prefixes {
		text := regexp.QuoteMeta(shape)
		for part, takes := range shapeParts {
			text = strings.ReplaceAll(text, part, takes)
		}
		expressions = append(expressions, regexp.MustCompile(`(?s)^`+text))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) {
			return
		}
		for i, shape := range prefixes {
			var p prefixed
			p.setShape(shape)
			rest, _, ok := p.cut(line)
			if wrapping(shape) != "" || !ok {
				continue
			}
			if !bytes.HasSuffix(line, rest) {
				t.Fatalf("%q is not the end of %q", rest, line)
			}
			if front := line[:len(line)-len(rest)]; !expressions[i].Match(front) {
				t.Errorf("%q is no prefix of %s", front, shape)
			}
		}
		opt := Options{Base: "https://base.example", Agents: true, Times: true, Clients: true, ClientAt: 1}
		for _, named := range []Format{Auto, Combined, JSON, Logfmt, LTSV, S3} {
			format, prefix := Choose([][]byte{line}, named, opt)
			p, err := New(format, opt)
			if err != nil {
				continue
			}
			if prefix != "" {
				p = Behind(prefix, p, &opt)
			}
			var r Row
			if result := p.Parse(line, &r); result == IsRow {
				checkRow(t, &r, 0)
			}
		}
	})
}

// FuzzGuess checks that a suggested pattern matches the line it was made from.
func FuzzGuess(f *testing.F) {
	seedLines(f, "heroku.log", "squid.log", "elb.log", "haproxy.log", "ltsv.log", "table.tsv")
	f.Add([]byte(`192.0.2.9|31.01.2026|"GET / HTTP/1.1"|200`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isLine(line) || len(line) > mostGuessed {
			return
		}
		e := guess([][]byte{line})
		if e.Pattern == "" {
			return
		}
		format, err := ParseFormat(e.Pattern)
		if err != nil {
			t.Fatalf("%q: %q: %v", line, e.Pattern, err)
		}
		p, err := New(format, Options{Base: "https://base.example"})
		if err != nil {
			t.Fatal(err)
		}
		if result := p.Parse(line, &Row{}); result != IsRow {
			t.Errorf("%q by %q: %v", line, e.Pattern, result)
		}
	})
}
