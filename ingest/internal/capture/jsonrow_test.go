package capture

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// compareRow compares scanRow with decodeRow, which uses package json. It returns whether each could read the line.
func compareRow(t *testing.T, line []byte) (scanned, decoded bool) {
	t.Helper()
	if !utf8.Valid(line) {
		return false, false
	}
	got, scanned := scanRow(line)
	want, err := decodeRow(line)
	want.Body, want.BodyB64 = nil, nil
	switch {
	case scanned && err != nil:
		t.Errorf("%q was read: %v", line, err)
	case scanned && !reflect.DeepEqual(got, want):
		t.Errorf("%q:\ngot  %+v\nwant %+v", line, got, want)
	}
	return scanned, err == nil
}

// FuzzJSONRow compares scanRow and decodeRow.
func FuzzJSONRow(f *testing.F) {
	f.Add([]byte(`{"url": "https://a.example/robots.txt", "status": 200, "fetched_at": 1767323045.5, "body": "a\u00e9\ud83d\ude00\ud800", "x": [{"body": null}]}`))
	f.Add([]byte(` {"origin":"\/","body_b64":"eA==","location":"l","max_age":-0,"error":null,"Status":1,"fetched_at":"2026-01-02T03:04:05Z"}` + "\r"))
	f.Fuzz(func(t *testing.T, line []byte) { compareRow(t, line) })
}

// TestJSONRow compares scanRow and decodeRow on random lines, and checks that scanRow reads most of them.
func TestJSONRow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	space := func() string { return strings.Repeat(pick(" ", "\t", "\n", "\r"), max(0, rnd.IntN(8)-6)) }
	odd := func(of int) bool { return rnd.IntN(of) == 0 }
	str := func() string {
		var text strings.Builder
		for range rnd.IntN(30) {
			text.WriteString(pick("a", "b", "/", "User-agent", "é", "\u2028", "\U0001f600", `\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u0041`, `\u00e9`, `\u2028`, `\u0000`,
				`\ud83d\ude00`, `\uD83D\uDE00`, `\ud800`, `\udc00`, `\udc00\ud800`, `\ud800\ud83d\ude00`, `\ud800\n`, `\ud800\u0041`))
			if odd(500) {
				text.WriteString(pick("\x00", "\x1f", `\x`, `\'`, `\v`, `\u12`, `\u12g4`, `\`, `"`, "\n", "\x7f"))
			}
		}
		return `"` + text.String() + `"`
	}
	number := func() string {
		return pick("0", "1", "200", "404", "-0", "-1", "600", "2147483648", "9223372036854775807", "9223372036854775808", "1767323045.25", "1e2", "1.0", "0e5", "-0.0", "1E400", "253402300800")
	}
	oddValue := func() string {
		return pick("true", "false", "null", "nul", "nulll", "01", "+1", "1.", ".5", "1e", "-", "NaN", "'x'", "", "[", "{", "]", "[1,]", `{"a":1,}`, "[]", "{}", `{"body": 1, "body": 2}`, `["body"]`, `[[{"a": [null, true, "\u0041"]}]]`,
			strings.Repeat("[", 150)+strings.Repeat("]", 150), strings.Repeat("[", 300)+strings.Repeat("]", 300), strings.Repeat("[", 10001)+strings.Repeat("]", 10001))
	}
	names := []string{"url", "origin", "status", "fetched_at", "body", "body_b64", "location", "max_age", "error", "other", "headers"}
	lines, scanned, decoded, leftOver := 60000, 0, 0, 0
	for range lines {
		var line strings.Builder
		line.WriteString(space() + "{")
		rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for i, name := range names[:rnd.IntN(len(names))] {
			if i > 0 {
				line.WriteString("," + space())
			}
			var value string
			switch name {
			case "status", "max_age":
				value = pick("0", "200", "404", "86400", "-0")
			case "fetched_at":
				value = pick("1767323045.25", "1", `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.123+02:00"`, "null")
			default:
				value = str()
			}
			if odd(40) {
				value = pick(oddValue(), number(), str(), "null")
			}
			if odd(100) {
				name = pick("Status", "BODY", "ſtatus", "\u212a", "body_B64", "fetched_at", "url", "status", "body", `\u0062ody`, `u\u0072l`, "", "bodyx", "bod", `"`, "fetchedAt")
			}
			line.WriteString(space() + `"` + name + `"` + space() + ":" + space() + value + space())
		}
		line.WriteString("}" + space())
		if odd(50) {
			line.WriteString(pick("x", "{}", ",", "\u00a0", "\v", "\ufeff", "null", "}"))
		}
		text := line.String()
		if odd(50) {
			text = pick("\ufeff", "\u00a0", "\v", "", "[", "null", "1", `"x"`, "}")
		}
		if odd(50) {
			text = text[:rnd.IntN(len(text)+1)]
		}
		fast, ok := compareRow(t, []byte(text))
		switch {
		case fast:
			scanned++
		case ok:
			leftOver++
		}
		if ok {
			decoded++
		}
	}
	if refused := lines - decoded; scanned < lines/2 || leftOver < lines/500 || leftOver > decoded/10 || refused < lines/20 {
		t.Errorf("of %d lines %d were scanned, %d left to package json alone, %d refused", lines, scanned, leftOver, refused)
	}
	t.Logf("%d scanned, %d left to package json alone, %d refused", scanned, leftOver, lines-decoded)
}
