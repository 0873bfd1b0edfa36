package output

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/robots"
)

// timedStore is a store whose rules change, for rows that have their times.
func timedStore(t *testing.T) *engine.Store {
	t.Helper()
	store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
		for day, body := range []string{"User-agent: *\nDisallow: /a\n", "#\n\nUser-agent: *\nDisallow: /ab\n\nUser-agent: GPTBot\nDisallow: /b\n"} {
			yield(robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(body), FetchedAt: time.UnixMicro(int64(day) * 100)}, nil)
		}
	}, engine.StoreOptions{Dialect: robots.Google, Agents: []string{"*", "GPTBot"}, RowTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// timedBatch is the rows of a log: of the first rules, of the second, before both, and of no rules.
func timedBatch() *engine.Batch {
	b := &engine.Batch{}
	for i, row := range []struct {
		url  string
		time int64
	}{
		{"https://b.com/a", 50},
		{"https://a.com/ab", 50},
		{"https://a.com/ab", 150},
		{"https://a.com/b", 50},
		{"https://a.com/b", 150},
		{"https://a.com/ab", -50},
		{"nonsense", 50},
	} {
		b.URLs = append(b.URLs, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(row.url))})
		b.Data = append(b.Data, row.url...)
		b.Lines, b.Times = append(b.Lines, int64(i+1)), append(b.Times, row.time)
	}
	return b
}

// TestRowTimes tests that rules are those at the time of the row, in both layouts, with and without a filter, in every
// format.
func TestRowTimes(t *testing.T) {
	const a, ab, onlyB = "Disallow: /a", "Disallow: /ab", "Disallow: /b"
	long := [][]any{
		{int64(1), true, nil, nil},
		{int64(1), true, nil, nil},
		{int64(2), false, int32(2), a},
		{int64(2), false, int32(2), a},
		{int64(3), false, int32(4), ab},
		{int64(3), true, nil, nil},
		{int64(4), true, nil, nil},
		{int64(4), true, nil, nil},
		{int64(5), true, nil, nil},
		{int64(5), false, int32(7), onlyB},
		{int64(6), true, nil, nil},
		{int64(6), true, nil, nil},
		{int64(7), nil, nil, nil},
		{int64(7), nil, nil, nil},
	}
	var wide [][]any
	for i := 0; i < len(long); i += 2 {
		p, q := long[i], long[i+1]
		wide = append(wide, []any{p[0], p[1], q[1], p[2], q[2], p[3], q[3]})
	}
	for _, tt := range []struct {
		layout Layout
		where  Where
		want   [][]any
	}{
		{Long, 0, long},
		{Long, WhereDisallowed, [][]any{long[2], long[3], long[4], long[9]}},
		{Wide, 0, wide},
		{Wide, WhereDisallowed, [][]any{wide[1], wide[2], wide[4]}},
	} {
		store := timedStore(t)
		b := timedBatch()
		store.NewEvaluator().Evaluate(b)
		for f := range Format(container.NumFormats) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, store, Options{
				Format: f, Layout: tt.layout, Where: tt.where, Inputs: []string{"log"}, Columns: []string{"line", "allowed", "rule_line", "rule"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(b), w.Close()); err != nil {
				t.Fatal(err)
			}
			sameRows(t, read(t, f, buf.Bytes()).rows, tt.want)
		}
	}
}
