package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/fieldtext"
)

// escapeSeeds are texts that are hard on some writer or reader.
var escapeSeeds = []string{
	"", "a", `"`, `""`, `a"b`, ",", "a,b", "\n", "\r", "\r\n", "a\r", "\x00", "\x1f", "\x7f", " a", "a ", "\t", `\`, `\N`, `\n`, `\u0000`, "'a'", "#",
	"é", "\u2028\u2029", "😀", "\uFEFF", "<&>", "12345678", "1234567,", `1234567"`, "12345678\\", "=1+1", "null", "nan", "\ufffd",
	"ÿÿÿÿÿÿÿÿ,", "!!!!!!!!", strings.Repeat("x", 1000) + `"` + strings.Repeat("y", 1000),
}

// TestEscapes pins how texts look.
func TestEscapes(t *testing.T) {
	for _, tt := range []struct{ text, csv, json string }{
		{"https://a.example/x?y=1", "https://a.example/x?y=1", `"https://a.example/x?y=1"`},
		{"", `""`, `""`},
		{`a "b", c`, `"a ""b"", c"`, `"a \"b\", c"`},
		{"a\r\nb\tc\x00", "\"a\r\nb\tc\x00\"", `"a\r\nb\tc\u0000"`},
		{` a`, `" a"`, `" a"`},
		{`a b `, `"a b "`, `"a b "`},
		{`a b`, `a b`, `"a b"`},
		{`\N`, `"\N"`, `"\\N"`},
		{`\x`, `\x`, `"\\x"`},
		{"'a", `"'a"`, `"'a"`},
		{"#a", `"#a"`, `"#a"`},
		{"é<&>\u2028", "é<&>\u2028", "\"é<&>\u2028\""},
		{"\x1f\x7f", "\"\x1f\x7f\"", "\"\\u001F\x7f\""},
	} {
		if got := string(fieldtext.CSV.Text(nil, []byte(tt.text))); got != tt.csv {
			t.Errorf("CSV of %q is %s, want %s", tt.text, got, tt.csv)
		}
		if got := string(fieldtext.JSON.Text(nil, []byte(tt.text))); got != tt.json {
			t.Errorf("JSON of %q is %s, want %s", tt.text, got, tt.json)
		}
	}
}

// FuzzEscapes writes two texts as neighbouring fields, and reads them back with encoding/csv and encoding/json.
func FuzzEscapes(f *testing.F) {
	for i, s := range escapeSeeds {
		f.Add(s, escapeSeeds[len(escapeSeeds)-1-i])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = fieldtext.Valid(a), fieldtext.Valid(b)
		checkCSV(t, a, b)
		line := append(append(append([]byte("["), fieldtext.JSON.Text(nil, []byte(a))...), ','), fieldtext.JSON.Text(nil, []byte(b))...)
		line = append(line, ']')
		var got []string
		if err := json.Unmarshal(line, &got); err != nil || len(got) != 2 || got[0] != a || got[1] != b {
			t.Errorf("%q and %q became %s, which is %q, %v", a, b, line, got, err)
		}
		if bytes.ContainsAny(line, "\n\r") || !utf8.Valid(line) {
			t.Errorf("%q and %q became %q: not one line of UTF-8", a, b, line)
		}
	})
}

func checkCSV(t *testing.T, texts ...string) {
	t.Helper()
	var line []byte
	for i, s := range texts {
		line = append(fieldtext.CSV.Lead(line, i, ""), fieldtext.CSV.Text(nil, []byte(s))...)
	}
	line = append(line, fieldtext.CSV.End...)
	strict := parseCSV(t, line, ',')
	r := csv.NewReader(bytes.NewReader(line))
	got, err := r.Read()
	_, end := r.Read()
	if err != nil || len(got) != len(texts) || len(strict) != 1 || len(strict[0]) != len(texts) || !errors.Is(end, io.EOF) {
		t.Fatalf("%q became %q, which is %q, %v", texts, line, got, err)
	}
	for i, s := range texts {
		if got[i] != strings.ReplaceAll(s, "\r\n", "\n") || strict[0][i].text != s {
			t.Errorf("%q became %q, which is %q", s, line, got[i])
		}
		if s == "" && !strict[0][i].quoted {
			t.Errorf("%q: an empty text looks like null", texts)
		}
	}
}
