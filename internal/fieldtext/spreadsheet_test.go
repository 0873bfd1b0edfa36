package fieldtext

import (
	"encoding/csv"
	"strings"
	"testing"
)

// TestSeparated tests texts that need quoting with some separator, and reads them back with encoding/csv.
func TestSeparated(t *testing.T) {
	for _, test := range []struct{ text, comma, semicolon, tab, safe string }{
		{"a", "a", "a", "a", "a"},
		{"a,b", `"a,b"`, "a,b", "a,b", `"a,b"`},
		{"a;b", "a;b", `"a;b"`, "a;b", "a;b"},
		{"a\tb", "\"a\tb\"", "\"a\tb\"", "\"a\tb\"", "\"a\tb\""},
		{`a"b`, `"a""b"`, `"a""b"`, `"a""b"`, `"a""b"`},
		{"=1+1", "=1+1", "=1+1", "=1+1", `"'=1+1"`},
		{"-", "-", "-", "-", "-"},
		{"+1", "+1", "+1", "+1", `"'+1"`},
		{"-1", "-1", "-1", "-1", `"'-1"`},
		{"@SUM(A1)", "@SUM(A1)", "@SUM(A1)", "@SUM(A1)", `"'@SUM(A1)"`},
		{"\t=1", "\"\t=1\"", "\"\t=1\"", "\"\t=1\"", "\"'\t=1\""},
		{"\r=1", "\"\r=1\"", "\"\r=1\"", "\"\r=1\"", "\"'\r=1\""},
		{`=HYPERLINK("http://x","y")`, `"=HYPERLINK(""http://x"",""y"")"`, `"=HYPERLINK(""http://x"",""y"")"`, `"=HYPERLINK(""http://x"",""y"")"`, `"'=HYPERLINK(""http://x"",""y"")"`},
		{"https://a.example/=1", "https://a.example/=1", "https://a.example/=1", "https://a.example/=1", "https://a.example/=1"},
		{"", `""`, `""`, `""`, `""`},
	} {
		safe := test.text
		if IsFormula([]byte(safe)) {
			safe = "'" + safe
		}
		for _, form := range []struct {
			syntax     Syntax
			separator  byte
			want, cell string
		}{
			{CSV, ',', test.comma, test.text},
			{Separated(';', false), ';', test.semicolon, test.text},
			{TSV, '\t', test.tab, test.text},
			{Separated(',', true), ',', test.safe, safe},
		} {
			got := string(form.syntax.Text(nil, []byte(test.text)))
			if got != form.want {
				t.Errorf("%q with %q became %s, want %s", test.text, form.separator, got, form.want)
			}
			r := csv.NewReader(strings.NewReader(string(form.syntax.Lead([]byte("x"), 1, "")) + got + "\n"))
			r.Comma = rune(form.separator)
			if fields, err := r.Read(); err != nil || len(fields) != 2 || fields[1] != form.cell {
				t.Errorf("%q with %q reads as %q, %v", test.text, form.separator, fields, err)
			}
		}
	}
}

// TestVisible tests characters that control a terminal, split at every offset.
func TestVisible(t *testing.T) {
	const text = "a\tb\n\x1b[31m\r\x00\x7f\u009b31m é \u202e😀\xff end\n"
	const want = "a\tb\n\\x1b[31m\\x0d\\x00\\x7f\\u009b31m é \\u202e😀\\xff end\n"
	for cut := range len(text) {
		var sb strings.Builder
		v := NewVisible(&sb)
		for _, piece := range []string{text[:cut], text[cut:]} {
			if n, err := v.Write([]byte(piece)); err != nil || n != len(piece) {
				t.Fatal(n, err)
			}
		}
		if got := sb.String(); got != want {
			t.Fatalf("cut at %d: %q, want %q", cut, got, want)
		}
	}
}
