package replies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPlaces holds which paths fail at the end of a log, for which crawlers and since when, and that single errors, pages that were
// repaired, and logs whose rows are in no order of time have none.
func TestPlaces(t *testing.T) {
	for _, begin := range []int64{1_800_000_000e6, -50 * hourMicros, -62135596800e6} { // of 2027, about 1970, of year 1
		testPlaces(t, begin)
	}
}

// testPlaces is TestPlaces for logs that begin at a time.
func testPlaces(t *testing.T, begin int64) {
	t.Helper()
	for _, c := range []struct {
		name   string
		status func(hour, crawler int, path string) int64
		want   string
	}{
		{"a directory", func(hour, _ int, path string) int64 {
			return map[bool]int64{true: 502, false: 200}[hour >= 50 && strings.HasPrefix(path, "/docs/")]
		}, "/docs/ from 50 to 99: 1 100 of 100, 2 100 of 100, every"},
		{"the directory with all errors", func(hour, _ int, path string) int64 {
			return map[bool]int64{true: 502, false: 200}[hour >= 50 && strings.HasPrefix(path, "/docs/a/")]
		}, "/docs/a/ from 50 to 99: 1 50 of 50, 2 50 of 50, every"},
		{"for one", func(hour, crawler int, _ string) int64 {
			return map[bool]int64{true: 503, false: 301}[hour >= 50 && crawler == 2 && hour%9 != 1]
		}, "/ from 50 to 99: 2 180 of 200"},
		{"a page", func(_, _ int, path string) int64 {
			return map[bool]int64{true: 500, false: 404}[path == "/x.php"]
		}, "/x.php from 0 to 99: 1 100 of 100, 2 100 of 100, every"},
		{"an error before", func(hour, crawler int, path string) int64 {
			if crawler == 2 && hour > 40 && hour < 50 {
				return 0 // it did not come
			}
			return map[bool]int64{true: 502, false: 200}[(hour >= 50 || hour == 40 && crawler == 2) && strings.HasPrefix(path, "/docs/")]
		}, "/docs/ from 50 to 99: 1 100 of 100, 2 100 of 100, every"},
		{"an error at the end for another", func(hour, crawler int, path string) int64 {
			return map[bool]int64{true: 503, false: 200}[crawler == 2 && hour >= 50 || hour == 99 && path == "/x.php"]
		}, "/ from 50 to 99: 2 200 of 200"},
		{"errors since long for another", func(hour, crawler int, _ string) int64 {
			return map[bool]int64{true: 503, false: 200}[crawler == 1 && hour >= 60 || crawler == 2 && hour >= 40]
		}, "/ from 60 to 99: 1 160 of 160, 2 160 of 160, every"},
		{"an answer and an error at once", func(hour, crawler int, path string) int64 {
			if crawler == 1 && hour > 0 {
				return 0
			}
			return map[bool]int64{true: 502, false: 200}[crawler == 1 || hour > 50 || hour == 50 && path != "/docs/a/1"]
		}, "/ from 50 to 99: 2 199 of 199, every"},
		{"repaired", func(hour, _ int, path string) int64 {
			return map[bool]int64{true: 502, false: 200}[hour >= 50 && hour < 98 && strings.HasPrefix(path, "/docs/")]
		}, ""},
		{"single errors", func(hour, crawler int, _ string) int64 {
			return map[bool]int64{true: 502, false: 200}[hour < 95 && (hour+crawler)%5 == 0]
		}, ""},
	} {
		for _, inOrder := range []bool{true, false} {
			var o Outages
			for i := range 100 {
				hour := i
				if !inOrder {
					hour = (i + 70) % 100
				}
				for crawler := 1; crawler <= 2; crawler++ {
					for _, path := range []string{"/docs/a/1", "/docs/b/2?x=1", "/shop/", "/x.php"} {
						if status := c.status(hour, crawler, path); status > 0 {
							o.AddAnswer(0, []byte("https://a.example"+path), uint16(crawler), status, begin+int64(hour)*hourMicros)
						}
					}
				}
			}
			var got []string
			for _, one := range o.Places(.8) {
				var by []string
				for _, r := range one.By {
					by = append(by, fmt.Sprintf("%d %d of %d", r.Crawler, r.Failed, r.Answered))
				}
				if !one.Others {
					by = append(by, "every")
				}
				got = append(got, fmt.Sprintf("%s from %d to %d: %s", one.Path, (one.From-begin)/hourMicros, (one.To-begin)/hourMicros, strings.Join(by, ", ")))
			}
			want := c.want
			if !inOrder {
				want = ""
			}
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("%d, %s, in order %t: %q, want %q", begin, c.name, inOrder, text, want)
			}
		}
	}
}

// TestManyPlaces holds that the places with the most errors are kept, and that there are never too many.
func TestManyPlaces(t *testing.T) {
	var o Outages
	for i := range 5000 {
		for _, path := range []string{fmt.Sprintf("/%d.html", i), "/docs/"} {
			o.AddAnswer(0, []byte("https://a.example"+path), 1, 500, int64(i+1))
		}
		o.AddAnswer(0, []byte("https://a.example/"), 1, 200, int64(i+1))
		o.AddAnswer(0, []byte("https://a.example/"), 1, 200, int64(i+1))
		o.AddAnswer(0, []byte("https://a.example/"), 1, 200, int64(i+1))
	}
	if len(o.all) > 2*mostOutages {
		t.Errorf("%d places", len(o.all))
	}
	if all := o.Places(.8); !slices.ContainsFunc(all, func(one Outage) bool { return one.Path == "/docs/" && one.By[0].Failed == 5000 }) {
		t.Errorf("%d places without the one with the most errors", len(all))
	}
}
