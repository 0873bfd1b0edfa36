package pipe

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// TestCut ends a stream after each byte. It checks that earlier rows are written, and that the end is an error unless
// it is between two messages, where a stream may end without an end mark.
func TestCut(t *testing.T) {
	store := newStore(t, false, "*")
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}} {
		var in []byte
		for seed := uint64(0); len(in) == 0 || len(in) > 20_000 || len(rowsOf(t, in)) < 2; seed++ {
			in, _ = madeUpStream(t, rand.New(rand.NewPCG(seed, 5)), dt)
		}
		var whole bytes.Buffer
		if _, err := Run(t.Context(), store, bytes.NewReader(in), &whole, Options{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		clean := 0
		for n := range in {
			var out bytes.Buffer
			_, err := Run(context.Background(), store, bytes.NewReader(in[:n]), &out, Options{Workers: 1 + n%2})
			switch {
			case err == nil:
				clean++
				checkRows(t, in[:n], out.Bytes())
			case n == 0 && errors.Is(err, errNoSchema):
			case !errors.Is(err, errTruncated):
				t.Errorf("%d bytes of %d: %v", n, len(in), err)
			case !bytes.HasPrefix(whole.Bytes(), out.Bytes()):
				t.Errorf("the first %d of %d bytes: the output is not a prefix of the complete output", n, len(in))
			}
		}
		if messages := len(rowsOf(t, in)) + 1; clean < messages {
			t.Errorf("%d ends without an error in a stream of %d messages", clean, messages)
		}
	}
}
