package robots_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// dump writes groups: agents, then rules with their lines.
func dump(f *robots.File) string {
	var b strings.Builder
	for _, g := range f.Groups {
		fmt.Fprintf(&b, "%q", g.Agents)
		if g.Star {
			b.WriteString("*")
		}
		for _, r := range g.Rules {
			fmt.Fprintf(&b, " %d:%s", r.Line, r)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, body, google, rfc9309 string }{
		{"empty", "", "", ""},
		{"CR LF", "user-agent: a\r\n\r\ndisallow: /\r\n", `["a"] 3:Disallow: /; `, `["a"] 3:Disallow: /; `},
		{"CR", "user-agent: a\r\rdisallow: /\r", `["a"] 3:Disallow: /; `, `["a"] 3:Disallow: /; `},
		{"LF CR", "user-agent: a\n\rdisallow: /\n\r", `["a"] 3:Disallow: /; `, `["a"] 3:Disallow: /; `},
		{"CR CR LF", "user-agent: a\r\r\ndisallow: /", `["a"] 3:Disallow: /; `, `["a"] 3:Disallow: /; `},
		{"no line end", "user-agent: a\ndisallow: /", `["a"] 2:Disallow: /; `, `["a"] 2:Disallow: /; `},
		{"BOM", "\xef\xbb\xbfuser-agent: a\ndisallow: /", `["a"] 2:Disallow: /; `, `["a"] 2:Disallow: /; `},
		{"part of a BOM", "\xef\xbbuser-agent: a\ndisallow: /", `["a"] 2:Disallow: /; `, `["a"] 2:Disallow: /; `},
		{"two BOMs", "\xef\xbb\xbf\xef\xbb\xbfuser-agent: a\ndisallow: /", "", ""},
		{"BOM later", "\n\xef\xbb\xbfuser-agent: a\ndisallow: /", "", ""},
		{"NUL", "user-agent: a\x00b\ndisallow: /x\x00y # z\n\x00disallow: /z", `["a"] 2:Disallow: /x; `, `["a"] 2:Disallow: /x; `},
		{"white space", "\v\fuser-agent\t:\t a\f\n disallow : \v/x y \f", `["a"] 2:Disallow: /x y; `, `["a"] 2:Disallow: /x y; `},
		{"NBSP is none", "user-agent: a\n\u00a0disallow: /x\ndisallow: /y\u00a0", `["a"] 3:Disallow: /y` + "\u00a0; ", `["a"] 3:Disallow: /y` + "\u00a0; "},
		{"no other line ends", "user-agent: a\ndisallow: /x\u0085\u2028y\vdisallow: /z", "[\"a\"] 2:Disallow: /x\u0085\u2028y\vdisallow: /z; ", "[\"a\"] 2:Disallow: /x\u0085\u2028y\vdisallow: /z; "},
		{"comments", "user-agent: a#b\ndisallow: /x#y\n#disallow: /z\ndisallow: #/all", `["a"] 2:Disallow: /x; `, `["a"] 2:Disallow: /x; `},
		{"colons", "user-agent: a\ndisallow: /x:y\n: /z\ndisallow /w\nallow /w /v", `["a"] 2:Disallow: /x:y 4:Disallow: /w; `, `["a"] 2:Disallow: /x:y; `},
		{"stars", "user-agent: *\nuser-agent: * x\nuser-agent: **\nuser-agent: *a\nallow: /", `[]* 5:Allow: /; `, `[]* 5:Allow: /; `},
		{"HTML", "<html>\n<a href=\"http://x/\">user-agent: *</a>\n<p>Disallow: /", "", ""},
		{"UTF-16", "\xff\xfeu\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00", "", ""},
	} {
		for d, want := range map[robots.Dialect]string{robots.Google: c.google, robots.RFC9309: c.rfc9309} {
			if got := dump(robots.Parse([]byte(c.body), d)); got != want {
				t.Errorf("%s: %v: %s, want %s", c.name, d, got, want)
			}
		}
	}
}

// TestYandexOptions reads sections as Yandex documents them, without and with the option that changes this.
func TestYandexOptions(t *testing.T) {
	const body = "user-agent: a\n\ndisallow: /1\nallow:\n# c\nallow: /2\n\nuser-agent: b\ncrawl-delay: 1\nuser-agent: c\ndisallow:"
	for d, want := range map[robots.Dialect]string{
		robots.Yandex:                            `["a"] 3:Disallow: /1 4:Allow:  6:Allow: /2; ["b"]; ["c"] 11:Disallow: ; `,
		robots.Yandex | robots.EmptyAllowIgnored: `["a"] 3:Disallow: /1 6:Allow: /2; ["b"]; ["c"] 11:Disallow: ; `,
		robots.Google2010:                        `["a"] 3:Disallow: /1 6:Allow: /2; ["b" "c"]; `,
	} {
		if got := dump(robots.Parse([]byte(body), d)); got != want {
			t.Errorf("%#x: %s, want %s", uint32(d), got, want)
		}
	}
	large := append([]byte("user-agent: *\ndisallow: /\n#"), make([]byte, robots.MaxBytes)...)
	if f := robots.Parse(large, robots.Yandex); len(f.Groups) > 0 || !f.Truncated {
		t.Errorf("yandex reads %d groups of a body over the limit, truncated %v", len(f.Groups), f.Truncated)
	}
}

// TestUndefined checks for which paths the precedence of rules with wildcards is undefined in google-2010.
func TestUndefined(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		want        bool
	}{
		{"allow: /page\ndisallow: /*.htm", "/page.htm", true},
		{"allow: /page\ndisallow: /*.htm", "/page", false},
		{"allow: /p*\ndisallow: /", "/page", false},           // a "*" at the end is ignored
		{"allow: /p*a\ndisallow: /", "/pa", true},             // whichever takes precedence
		{"allow: /p*a\ndisallow: /\nallow: /p", "/pa", false}, // the rules without "*" allow, as the other one does
		{"allow: /p\ndisallow: /page\ndisallow: /*.htm", "/page.htm", false},
		{"allow: /p\ndisallow: /page\ndisallow: /*.htm", "/p.htm", true},
		{"allow: /*a\ndisallow: /*b", "/ab", true},
		{"allow: /*a\nallow: /*b", "/ab", false},
		{"allow: /*a\ndisallow: /*b", "/a", false},
		{"allow: /*a$\ndisallow: /a", "/a", true},
		{"allow: /*\ndisallow: /**", "/a", false},
		{"allow: /$\ndisallow: /", "/", false},
		{"allow: /page\ndisallow: /p", "/page", false},
		{"disallow: /page\ndisallow: /*.htm", "/page.htm", false},
		{"allow: /page", "/x", false},
	} {
		for _, d := range allDialects {
			rules, _ := robots.Parse([]byte("user-agent: *\n"+c.rules), d).Select(robots.NewAgent("*", d))
			winner := robots.Decide(rules, []byte(c.path), d)
			if got := robots.Undefined(rules, winner, []byte(c.path), d); got != (c.want && d == robots.Google2010) {
				t.Errorf("%v: %q on %s: undefined %v", d, c.rules, c.path, got)
			}
		}
	}
}

// TestParseCopies checks that a File does not share the memory of the body.
func TestParseCopies(t *testing.T) {
	body := []byte("user-agent: abc\nallow: /abc\n")
	f := robots.Parse(body, robots.RFC9309)
	want := dump(f)
	for i := range body {
		body[i] = 'x'
	}
	if got := dump(f); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSizeLimit cuts bodies at each kind of position (RFC 9309 section 2.5).
func TestSizeLimit(t *testing.T) {
	const head, rule = "user-agent: *\n", "disallow: /private"
	filled := func(tail string, over int) []byte { // tail ends over bytes after the limit
		b := bytes.Repeat([]byte("#"), robots.MaxBytes)
		copy(b, head)
		b = b[:robots.MaxBytes+over-len(tail)-1]
		return append(append(b, '\n'), tail...)
	}
	for _, c := range []struct {
		name      string
		body      []byte
		rules     int
		truncated bool
		cutLine   int32
	}{
		{"just fits", filled(rule, 0), 1, false, 0},
		{"fits with its line end", filled(rule+"\n", 0), 1, false, 0},
		{"cut in the line", filled(rule, 4), 0, true, 3},
		{"cut in the line, more lines", append(filled(rule, 4), "\nallow: /\n"...), 0, true, 3},
		{"cut before LF", filled(rule+"\n", 1), 1, true, 0},
		{"cut before CR LF", filled(rule+"\r\nallow: /", 10), 1, true, 0},
		{"cut in CR LF", filled(rule+"\r\nallow: /", 9), 1, true, 0},
		{"cut behind LF", filled(rule+"\nallow: /", 8), 1, true, 0},
		{"one long line", bytes.Repeat([]byte("x"), robots.MaxBytes+1), 0, true, 1},
		{"BOM counts", append([]byte("\xef\xbb\xbf"), filled(rule, 0)...), 0, true, 3},
	} {
		for _, d := range []robots.Dialect{robots.Google, robots.RFC9309} {
			f := robots.Parse(c.body, d)
			rules, _ := f.Select(robots.Agent{})
			if len(rules) != c.rules || f.Truncated != c.truncated || f.CutLine != c.cutLine {
				t.Errorf("%s: %v: %d rules, truncated %v, cut line %d", c.name, d, len(rules), f.Truncated, f.CutLine)
			}
		}
	}
}

// TestLineLimit checks that google reads 16,663 bytes of a line, counted from its start and including comments.
func TestLineLimit(t *testing.T) {
	const limit = 16663
	line := "disallow: /" + strings.Repeat("a", limit)
	f := robots.Parse([]byte("user-agent: *\n"+line), robots.Google)
	if got, want := f.Groups[0].Rules[0].Value, line[len("disallow: "):limit]; got != want {
		t.Errorf("google keeps %d bytes of the value, want %d", len(got), len(want))
	}
	f = robots.Parse([]byte("user-agent: *\n"+line), robots.RFC9309)
	if got, want := len(f.Groups[0].Rules[0].Value), len(line)-len("disallow: "); got != want {
		t.Errorf("rfc9309 keeps %d bytes of the value, want %d", got, want)
	}
	f = robots.Parse([]byte("\xef\xbb\xbfuser-agent: *"+strings.Repeat(" ", limit-len("user-agent: *"))+"x\nallow: /"), robots.Google)
	if len(f.Groups) != 1 || !f.Groups[0].Star {
		t.Errorf("byte order mark counts as part of the line: %s", dump(f))
	}
	tags := robots.ScanLines([]byte(line+"\n"+line[:limit]), robots.Google)
	if tags[0].Flags != "DL" || tags[1].Flags != "D" {
		t.Errorf("flags of lines over and at the limit: %q, %q", tags[0].Flags, tags[1].Flags)
	}
}

func TestSelect(t *testing.T) {
	f := robots.Parse([]byte("user-agent: a\ndisallow: /1\nuser-agent: *\nuser-agent: b\ndisallow: /2\nuser-agent: A\nallow: /3\nuser-agent: empty\n"), robots.Google)
	for _, c := range []struct {
		agent robots.Agent
		want  string
		ok    bool
	}{
		{robots.Agent{Token: "a"}, "[Disallow: /1 Allow: /3]", true},
		{robots.Agent{Token: "B"}, "[Disallow: /2]", true},
		{robots.Agent{Token: "c"}, "[Disallow: /2]", true},
		{robots.Agent{}, "[Disallow: /2]", true},
		{robots.Agent{Token: "empty"}, "[]", true},
		{robots.Agent{Token: "c", IgnoresStar: true}, "[]", false},
		{robots.Agent{Token: "c", Fallbacks: []robots.ProductToken{"d", "empty", "a"}}, "[]", true},
		{robots.Agent{Token: "c", Fallbacks: []robots.ProductToken{"d", "a"}}, "[Disallow: /1 Allow: /3]", true},
	} {
		rules, ok := f.Select(c.agent)
		if got := fmt.Sprint(rules); got != c.want || ok != c.ok {
			t.Errorf("%+v: %s, %v, want %s, %v", c.agent, got, ok, c.want, c.ok)
		}
	}
	before := dump(f)
	rules, _ := f.Select(robots.Agent{Token: "a"})
	_ = append(rules, robots.Rule{Value: "/x"})
	if rules, _ = f.Select(robots.Agent{Token: "b"}); len(rules) == 1 {
		_ = append(rules, robots.Rule{Value: "/x"})
	}
	if after := dump(f); after != before {
		t.Errorf("appending to selected rules changed the file: %s", after)
	}
	if rules, ok := (&robots.File{}).Select(robots.Agent{}); rules != nil || ok {
		t.Errorf("empty file: %v, %v", rules, ok)
	}
}

func TestNewAgent(t *testing.T) {
	for _, c := range []struct {
		name string
		d    robots.Dialect
		want robots.Agent
	}{
		{"*", robots.Google, robots.Agent{}},
		{"008", robots.Google, robots.Agent{}},
		{"FooBot/1.2 (x)", robots.Google, robots.Agent{Token: "FooBot"}},
		{"MJ12bot", robots.Google, robots.Agent{Token: "MJ"}},
		{"MJ12bot/v1.4", robots.RFC9309 | robots.WideTokens, robots.Agent{Token: "MJ12bot"}},
		{"GoogleBot-Image", robots.Google, robots.Agent{Token: "GoogleBot-Image", Fallbacks: []robots.ProductToken{"GoogleBot"}}},
		{"Googlebot-Image-Test/1", robots.Google, robots.Agent{Token: "Googlebot-Image-Test", Fallbacks: []robots.ProductToken{"Googlebot-Image"}}},
		{"Googlebot-Image", robots.RFC9309, robots.Agent{Token: "Googlebot-Image"}},
		{"Google-Extended", robots.Google, robots.Agent{Token: "Google-Extended"}},
		{"Googlebot-Image", robots.Google2010, robots.Agent{Token: "Googlebot-Image", Fallbacks: []robots.ProductToken{"Googlebot"}}},
		{"Googlebot-Image", robots.Yandex, robots.Agent{Token: "Googlebot-Image"}},
		{"YandexBot/3.0", robots.Yandex, robots.Agent{Token: "YandexBot", Fallbacks: []robots.ProductToken{"Yandex"}}},
		{"yandex", robots.Yandex, robots.Agent{Token: "yandex"}},
		{"YandexBot", robots.Google, robots.Agent{Token: "YandexBot"}},
		{"Claude-User", robots.Google, robots.Agent{Token: "Claude-User"}},
		{"nobody", robots.Google, robots.Agent{Token: "nobody"}},
		{"AdsBot-Google", robots.Google, robots.Agent{Token: "AdsBot-Google", IgnoresStar: true}},
		{"adsbot-google/1.0", robots.Google2010, robots.Agent{Token: "adsbot-google", IgnoresStar: true}},
		{"AdsBot-Google", robots.RFC9309, robots.Agent{Token: "AdsBot-Google"}},
		{"Applebot", robots.Google, robots.Agent{Token: "Applebot", Fallbacks: []robots.ProductToken{"Googlebot"}}},
		{"Applebot", robots.RFC9309, robots.Agent{Token: "Applebot"}},
		{"GoogleOther-Image/1.0", robots.RFC9309, robots.Agent{Token: "GoogleOther-Image", Fallbacks: []robots.ProductToken{"GoogleOther"}}},
		{"special_archiver", robots.Yandex, robots.Agent{Token: "special_archiver", Fallbacks: []robots.ProductToken{"archive"}}},
		{"special_archiver", robots.Google | robots.WideTokens, robots.Agent{Token: "special_archiver", Fallbacks: []robots.ProductToken{"archive.org_bot"}}},
		{"bingbot", robots.Google, robots.Agent{Token: "bingbot", Fallbacks: []robots.ProductToken{"msnbot"}}},
		{"bingbot", robots.RFC9309, robots.Agent{Token: "bingbot"}},
		{"YandexDirect", robots.Yandex, robots.Agent{Token: "YandexDirect", Fallbacks: []robots.ProductToken{"Yandex"}, IgnoresStar: true}},
	} {
		if got := robots.NewAgent(c.name, c.d); !reflect.DeepEqual(got, c.want) {
			t.Errorf("NewAgent(%q, %v) = %+v, want %+v", c.name, c.d, got, c.want)
		}
	}
}

func TestDialectNames(t *testing.T) {
	for _, name := range []string{"rfc9309", "google", "google-2010", "yandex"} {
		d, err := robots.ParseDialect(name)
		if err != nil || d.String() != name || (d|robots.URLAsIs|robots.WideTokens|robots.EmptyAllowIgnored).String() != name {
			t.Errorf("ParseDialect(%q) = %v, %v", name, d, err)
		}
	}
	if _, err := robots.ParseDialect("bing"); err == nil || !strings.Contains(err.Error(), "rfc9309, google, google-2010, yandex") {
		t.Errorf("ParseDialect(bing): %v", err)
	}
	if got := robots.Dialect(1).String(); got != "dialect(0x1)" {
		t.Errorf("String = %s", got)
	}
}

// FuzzParse checks for any body that nothing panics, that lines are counted, that rules are in the lines that they
// name, that values and tokens are trimmed and not empty, and that CR LF, CR and LF are equivalent.
func FuzzParse(f *testing.F) {
	page := "<!DOCTYPE html>\n<p class=\"a:b\">User-agent: *</p>\nDisallow: /\n"
	big := []byte("User-agent: *\nDisallow: /*a*b$ # c\r\nallow /x\r\x00\n")
	for _, seed := range [][]byte{
		nil, []byte("\xef\xbb\xbfuser-agent: a\nDisallow: /%zz%e3\xff\n"), []byte(page), []byte("user-agent: a\rdisallow: /\r\rallow: /x"),
		bytes.Repeat([]byte{0}, 1000), bytes.Repeat([]byte("\r"), 1000), bytes.Repeat([]byte("\r\n"), 1000), []byte(":"), []byte("a : : b"),
		bytes.Repeat(big, 3<<20/len(big)), []byte("user-agent: *\ndisallow: /" + strings.Repeat("a*", 1<<19)), bytes.Repeat([]byte(page), 9000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex, robots.Google | robots.WideTokens} {
			file := robots.Parse(body, d)
			checkFile(t, file, body)
			if len(body) < robots.MaxBytes/2 && !bytes.ContainsRune(body, '\r') {
				crlf := robots.Parse(bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n")), d)
				cr := robots.Parse(bytes.ReplaceAll(body, []byte("\n"), []byte("\r")), d)
				if want := dump(file); dump(crlf) != want || dump(cr) != want {
					t.Errorf("other line ends give other groups: %s, %s, want %s", dump(crlf), dump(cr), want)
				}
			}
		}
	})
}

func checkFile(t *testing.T, f *robots.File, body []byte) {
	t.Helper()
	if f.Truncated != (len(body) > robots.MaxBytes) {
		t.Errorf("truncated %v at %d bytes", f.Truncated, len(body))
	}
	lines := splitLines(body[:min(len(body), robots.MaxBytes)])
	last := int32(0)
	for _, g := range f.Groups {
		if slices.Contains(g.Agents, "") {
			t.Error("empty token")
		}
		for _, r := range g.Rules {
			if r.Line <= last || int(r.Line) > len(lines) {
				t.Fatalf("line %d after %d of %d", r.Line, last, len(lines))
			}
			last = r.Line
			if strings.Trim(r.Value, " \t\v\f") != r.Value || !strings.Contains(lines[r.Line-1], r.Value) || strings.ContainsAny(r.Value, "#\x00\r\n") {
				t.Errorf("line %d: value %q of line %q", r.Line, r.Value, lines[r.Line-1])
			}
			if r.Pattern == "" || len(r.Pattern) > 3*len(r.Value)+1 {
				t.Errorf("line %d: pattern %q of %q", r.Line, r.Pattern, r.Value)
			}
		}
	}
}

// splitLines splits a body into lines in the simplest way.
func splitLines(body []byte) []string {
	text := strings.ReplaceAll(string(body), "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}
