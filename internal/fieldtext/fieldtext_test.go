package fieldtext

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPlainPrefix compares with a loop over bytes, at all lengths and offsets in a word.
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

// FuzzValues compares numbers and times with those of the standard library.
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
		var c Calendar
		c.appendTime(nil, bits/2) // another day may be remembered
		at := time.UnixMicro(bits).UTC()
		if have := string(c.appendTime(nil, bits)); at.Year() >= 0 && at.Year() <= 9999 && have != at.Format("2006-01-02T15:04:05.000000Z") {
			t.Errorf("%d became %s, want %v", bits, have, at)
		}
	})
}

// TestCalendar tests years that the layouts of package time do not support.
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
		if got := string((&Calendar{}).appendTime(nil, micros)); got != want {
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

// escape is the obvious implementation of AppendValid.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == '\uFFFD' && !strings.HasPrefix(s[i:], "\uFFFD") {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func FuzzAppendValid(f *testing.F) {
	for _, s := range []string{"", "a", "é", "\xff", "a\xc3", "\xe2\x82", "\xef\xbf\xbd\xef", "\xf0\x9f\x98\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, escaped := AppendValid(nil, []byte(s))
		if string(got) != escape(s) || len(got) != len(s)+2*escaped {
			t.Errorf("%q became %q, %d escaped; want %q", s, got, escaped, escape(s))
		}
	})
}
