package pipe

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
)

// TestEnded tests that rows are counted per stream, after its response is written, and that the responses are the same
// as without Options.Ended.
func TestEnded(t *testing.T) {
	store := newStore(t, false, "*")
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 20 {
		var in, whole, got bytes.Buffer
		var want []int64
		for range r.IntN(5) {
			stream, urls := madeUpStream(t, r, urlTypes()[r.IntN(len(urlTypes()))])
			in.Write(stream)
			want = append(want, int64(len(urls)))
		}
		in.Write(emptyStream(t, r))
		want = append(want, 0)
		if _, err := Run(t.Context(), store, bytes.NewReader(in.Bytes()), &whole, Options{}); err != nil {
			t.Fatal(err)
		}
		var rows []int64
		ended := func(s engine.Stats) {
			rows = append(rows, s.URLs)
			if end := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}; !bytes.HasSuffix(got.Bytes(), end) {
				t.Errorf("Ended was called for stream %d before its end was written", len(rows))
			}
		}
		last, err := Run(t.Context(), store, bytes.NewReader(in.Bytes()), &got, Options{Workers: 1 + round%3, Ended: ended})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), whole.Bytes()) {
			t.Error("the responses differ from those without Ended")
		}
		if !slices.Equal(rows, want) || last.URLs != 0 {
			t.Errorf("streams of %d rows, and %d rows after them; want %d, 0", rows, last.URLs, want)
		}
	}
}

// emptyStream returns a stream without rows.
func emptyStream(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	for {
		if stream, urls := madeUpStream(t, r, arrow.BinaryTypes.String); len(urls) == 0 {
			return stream
		}
	}
}

// TestEndedNumbers tests that record batches are numbered from the start of their stream.
func TestEndedNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var first []byte
	for len(first) == 0 || len(rowsOf(t, first)) < 2 {
		first, _ = madeUpStream(t, r, arrow.BinaryTypes.String)
	}
	var streams int
	opt := Options{Workers: 1, Ended: func(engine.Stats) { streams++ }}
	_, err := Run(t.Context(), newStore(t, false, "*"), bytes.NewReader(slices.Concat(first, first[:len(first)/8])), new(bytes.Buffer), opt)
	if fault, ok := errors.AsType[*StreamError](err); !ok || fault.Batch != 1 || streams != 1 {
		t.Errorf("%v, after %d streams", err, streams)
	}
}
