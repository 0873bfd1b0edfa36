package robots

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// encode16 returns a text as UTF-16 without a byte order mark.
func encode16(text string, bigEndian bool) string {
	var sb strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		lo, hi := byte(u), byte(u>>8)
		if bigEndian {
			lo, hi = hi, lo
		}
		sb.WriteByte(lo)
		sb.WriteByte(hi)
	}
	return sb.String()
}

func TestOddityOf(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /p\n"
	for _, c := range []struct {
		body string
		want Oddity
	}{
		{rules, NotOdd},
		{"\xef\xbb\xbf" + rules, NotOdd},
		{"Sitemap: https://example.com/s.xml", NotOdd},
		{"Host: example.com", NotOdd},
		{"Crawl-delay: 5", NotOdd},
		{"Noindex: /x", NotOdd},
		{"some words\nDisallow: /", NotOdd},
		{"useragent *\ndisallow /x", NotOdd},
		{"disalow: /x", NotOdd},
		{"user agent: x", NotOdd},
		{"", OddBlank},
		{"\xef\xbb\xbf", OddBlank},
		{"\n \r\n\t# comment: Disallow: /\n", OddBlank},
		{"Not found", OddText},
		{"Allowed memory size of 1 byte exhausted: see the log", OddText},
		{"Host unreachable", OddText},
		{`{"error": "not found"}`, OddText},
		{"%PDF-1.7", OddText},
		{"<html>", OddHTML},
		{" \r\n\xef", OddText},
		{"\xef\xbb\xbf \n<!DOCTYPE html>\n" + rules, OddHTML},
		{"<?xml version=\"1.0\"?>", OddHTML},
		{"<\n" + rules, NotOdd},
		{"\xff\xfe" + encode16(rules, false), OddUTF16},
		{"\xfe\xff" + encode16(rules, true), OddUTF16},
		{encode16(rules, false), OddUTF16LE},
		{encode16(rules, true), OddUTF16BE},
		{"\xff\xfe\x00\x00U\x00\x00\x00", OddUTF32},
		{"\x00\x00\xfe\xff", OddUTF32},
		{rules + "Disallow: /\x00", OddNUL},
		{"\x00", OddNUL},
		{"\x1f\x8b\x08", OddGzip},
		{"\x28\xb5\x2f\xfd\x00", OddZstd},
		{"\xfd7zXZ\x00\x00", OddXZ},
		{"BZh91AY&SY", OddBzip2},
		{"PK\x03\x04", OddZip},
		{"PAR1", OddParquet},
		{rules + strings.Repeat("# a line\n", MaxBytes/9) + "\x00", NotOdd}, // beyond MaxBytes
		{strings.Repeat("x", MaxBytes+5), OddText},
	} {
		for _, d := range []Dialect{RFC9309, Google, Google2010, Yandex} {
			for _, f := range []*File{nil, Parse([]byte(c.body), d)} {
				if got := OddityOf([]byte(c.body), f); got != c.want {
					t.Errorf("%.40q in %v: %v, want %v (parsed: %t)", c.body, d, got, c.want, f != nil)
				}
			}
		}
		codes := map[Code]bool{}
		r := Inspect([]byte(c.body), Google)
		for _, d := range r.Diagnostics {
			codes[d.Code] = true
		}
		for _, same := range []struct {
			odd  Oddity
			code Code
		}{{OddHTML, codeHTML}, {OddUTF16, codeUTF16}} {
			if (r.Odd == same.odd) != codes[same.code] && c.want != OddUTF32 {
				t.Errorf("%.40q: it is %v, and Inspect says %v", c.body, r.Odd, r.Diagnostics)
			}
		}
	}
	names := map[string]bool{}
	for o := range NumOddities {
		names[Oddity(o).String()] = true
	}
	if len(names) != NumOddities-2 || names[""] {
		t.Errorf("names %v", names)
	}
}

// FuzzOddity checks that knowing the groups does not change whether a body is odd, and that a body with rules is never
// reported as text or blank.
func FuzzOddity(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /p\n"))
	f.Add([]byte("<a\nUser-agent: *"))
	f.Add([]byte("U\x00s\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		file := Parse(body, RFC9309)
		odd := OddityOf(body, nil)
		if with := OddityOf(body, file); with != odd {
			t.Errorf("%v without the groups, %v with them", odd, with)
		}
		if len(file.Groups) > 0 && (odd == OddText || odd == OddBlank) {
			t.Errorf("%v with %d groups", odd, len(file.Groups))
		}
	})
}
