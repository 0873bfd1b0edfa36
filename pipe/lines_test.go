package pipe

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
)

// TestLines compares the answers to lines with those of the store, whether the lines arrive one by one or together.
func TestLines(t *testing.T) {
	store, r := byNameStore(t), rand.New(rand.NewPCG(3, 3))
	var in, want strings.Builder
	streams := 0
	for range 2000 {
		url, agent := string(randomURL(r)), agentsInRows[r.IntN(len(agentsInRows))]
		if url == "" || strings.ContainsAny(url, "\t\n") {
			continue
		}
		in.WriteString(url + "\t" + agent + "\n")
		answer, err := newStore(t, false, agent).Verdict(url, agent)
		if err != nil {
			t.Fatal(err)
		}
		if len(url) > maxURL {
			answer.Access = engine.Unknown
		}
		want.WriteString(map[engine.Access]string{engine.Unknown: "null\n", engine.Denied: "false\n", engine.Allowed: "true\n"}[answer.Access])
		if r.IntN(200) == 0 {
			in.WriteString("\n")
			want.WriteString("\n")
			streams++
		}
	}
	in.WriteString("https://example.com/\ta b\nhttps://example.com/\nno URL\t*\n\n")
	want.WriteString("null\nnull\nnull\n\n")
	for name, from := range map[string]io.Reader{"whole": strings.NewReader(in.String()), "bytes": smallReader{strings.NewReader(in.String())}} {
		var out bytes.Buffer
		ended, rows := 0, int64(0)
		check := func(name string) error {
			if strings.Contains(name, " ") {
				return ErrAgent
			}
			return nil
		}
		_, err := RunLines(t.Context(), store, from, &out, Options{CheckAgent: check, Ended: func(s engine.Stats) { ended, rows = ended+1, rows+s.Rows }})
		if err != nil || out.String() != want.String() || ended != streams+1 || rows != int64(strings.Count(want.String(), "u")+strings.Count(want.String(), "false")) {
			t.Errorf("%s: %v, %d streams and %d rows, or wrong answers", name, err, ended, rows)
		}
	}
	if _, err := RunLines(t.Context(), store, strings.NewReader("https://example.com/"), io.Discard, Options{}); err == nil || !strings.Contains(err.Error(), "no end of line") {
		t.Errorf("a truncated line: %v", err)
	}
}

// A smallReader returns a few bytes at once.
type smallReader struct{ r io.Reader }

func (s smallReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 7)]) }
