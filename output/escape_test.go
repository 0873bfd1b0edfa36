package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
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
		if got := string(appendCSV(nil, []byte(tt.text))); got != tt.csv {
			t.Errorf("CSV of %q is %s, want %s", tt.text, got, tt.csv)
		}
		if got := string(appendJSON(nil, []byte(tt.text))); got != tt.json {
			t.Errorf("JSON of %q is %s, want %s", tt.text, got, tt.json)
		}
	}
}

// FuzzEscapes reads two texts side by side back from CSV by encoding/csv, and from JSON by encoding/json.
func FuzzEscapes(f *testing.F) {
	for i, s := range escapeSeeds {
		f.Add(s, escapeSeeds[len(escapeSeeds)-1-i])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = validString(a), validString(b)
		checkCSV(t, a, b)
		line := append(append(append([]byte("["), appendJSON(nil, []byte(a))...), ','), appendJSON(nil, []byte(b))...)
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
		line = append(csvSyntax.lead(line, i, ""), appendCSV(nil, []byte(s))...)
	}
	line = append(line, csvSyntax.end...)
	strict := parseCSV(t, line)
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

// TestPlainPrefix compares with a loop over bytes, at all lengths and places of a word.
func TestPlainPrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		text := make([]byte, rng.IntN(40))
		for i := range text {
			if text[i] = byte(rng.IntN(256)); text[i] < ' ' && rng.IntN(4) > 0 {
				text[i] += 0x80
			}
		}
		special := []byte{',', '\\'}[rng.IntN(2)]
		want := 0
		for want < len(text) && text[want] >= ' ' && text[want] != '"' && text[want] != special {
			want++
		}
		if got := plainPrefix(text, special); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	}
}

// FuzzValues compares numbers and moments with what the library writes.
func FuzzValues(f *testing.F) {
	for _, bits := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(math.Float64bits(1e21)), int64(math.Float64bits(1e-7)), int64(math.Float64bits(-0.1)), 1769882400250000} {
		f.Add(bits)
	}
	f.Fuzz(func(t *testing.T, bits int64) {
		number := math.Float64frombits(uint64(bits))
		text := string(appendFloat(nil, number))
		if got, err := strconv.ParseFloat(text, 64); err != nil || got != number && !math.IsNaN(number) {
			t.Errorf("%v became %s", number, text)
		}
		want, err := json.Marshal(number)
		if err != nil { // not a number, or infinite
			want = []byte("null")
		}
		var back any
		got := appendJSONFloat(nil, number)
		if err := json.Unmarshal(got, &back); err != nil || len(got) > len(want)+1 || err == nil && string(want) != "null" && back != number {
			t.Errorf("%v became %s, want %s", number, got, want)
		}
		var c calendar
		c.append(nil, bits/2) // another day may be remembered
		at := time.UnixMicro(bits).UTC()
		if have := string(c.append(nil, bits)); at.Year() >= 0 && at.Year() <= 9999 && have != at.Format("2006-01-02T15:04:05.000000Z") {
			t.Errorf("%d became %s, want %v", bits, have, at)
		}
	})
}

// TestCalendar has years that the library's layouts do not have.
func TestCalendar(t *testing.T) {
	for micros, want := range map[int64]string{
		0:                    "1970-01-01T00:00:00.000000Z",
		-1:                   "1969-12-31T23:59:59.999999Z",
		1769882400250001:     "2026-01-31T18:00:00.250001Z",
		253402300800_000_000: "+10000-01-01T00:00:00.000000Z",
		-62167219200_000_001: "-0001-12-31T23:59:59.999999Z",
		math.MaxInt64:        "+294247-01-10T04:00:54.775807Z",
		math.MinInt64:        "-290308-12-21T19:59:05.224192Z",
	} {
		if got := string((&calendar{}).append(nil, micros)); got != want {
			t.Errorf("%d became %s, want %s", micros, got, want)
		}
	}
	for number, want := range map[float64]string{
		math.NaN(): "nan", math.Inf(1): "inf", math.Inf(-1): "-inf", 0.5: "0.5", 200: "200", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-7: "1e-07",
	} {
		if got := string(appendFloat(nil, number)); got != want {
			t.Errorf("%v became %s, want %s", number, got, want)
		}
	}
}
