package output

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/robots"
)

// logStore is a store for the crawlers of a log.
func logStore(t *testing.T) *engine.Store {
	t.Helper()
	body := []byte("User-agent: GPTBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n")
	store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
		yield(robots.Response{Origin: "https://a.com", Status: 200, Body: body}, nil)
	}, engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// logBatch is the rows of a log.
func logBatch() *engine.Batch {
	b := &engine.Batch{}
	for i, row := range [][2]string{
		{"GPTBot/1.2", "https://a.com/a"},
		{"GPTBot/1.2", "https://a.com/b"},
		{"bingbot/2.0", "https://a.com/b"},
		{"curl/8.0", "https://a.com/b"},
		{"GPTBot/1.2", "nonsense"},
	} {
		for k, spans := range []*[]engine.Span{&b.UserAgents, &b.URLs} {
			*spans = append(*spans, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(row[k]))})
			b.Data = append(b.Data, row[k]...)
		}
		b.Lines = append(b.Lines, int64(i+1))
	}
	return b
}

// Rows of a log have the crawler that came, its rule and whether that was a violation, in every
// format.
func TestLogAgents(t *testing.T) {
	store := logStore(t)
	want := [][]any{
		{int64(1), "GPTBot", false, "Disallow: /a", int32(2), true},
		{int64(2), "GPTBot", true, nil, nil, false},
		{int64(3), "bingbot", false, "Disallow: /b", int32(5), true},
		{int64(4), "*", false, "Disallow: /b", int32(5), nil},
		{int64(5), "GPTBot", nil, nil, nil, nil},
	}
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		b := logBatch()
		store.NewEvaluator().Evaluate(b)
		var buf bytes.Buffer
		w, err := NewWriter(&buf, store, Options{
			Format: format, Inputs: []string{"log"},
			Columns: []string{"line", "agent", "allowed", "rule", "rule_line", Violation},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(b), w.Close()); err != nil {
			t.Fatal(err)
		}
		sameRows(t, read(t, format, buf.Bytes()).rows, want)
	}
}

// TestViolationNeedsStore asks for violations of a store whose agents are not those of the log.
func TestViolationNeedsStore(t *testing.T) {
	store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, engine.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(io.Discard, store, Options{Columns: []string{Violation}}); !errors.Is(err, columnar.ErrLogAgents) {
		t.Errorf("New: %v", err)
	}
}
