package pipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
)

// FuzzStream sends damaged streams: no input causes a panic, and errors are StreamErrors. The output does not depend on
// how the input is split.
func FuzzStream(f *testing.F) {
	t := &testing.T{}
	types := urlTypes()
	for i, dt := range types {
		in, _ := madeUpStream(t, rand.New(rand.NewPCG(uint64(i), 9)), dt)
		if len(in) < 1<<17 {
			f.Add(in)
			f.Add(append([]byte("12\n"), append(in, in...)...))
		}
	}
	f.Add([]byte{})
	f.Add([]byte("ARROW1\x00\x00"))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0})
	store := newStore(f, false, "*")
	f.Fuzz(func(t *testing.T, in []byte) {
		var out, again bytes.Buffer
		_, err := Run(context.Background(), store, bytes.NewReader(in), &out, Options{Workers: 1})
		if fault, ok := errors.AsType[*StreamError](err); err != nil && (!ok || fault.Batch < 0) {
			t.Fatalf("%T: %v", err, err)
		}
		_, errAgain := Run(context.Background(), store, iotest.OneByteReader(bytes.NewReader(in)), &again, Options{Workers: 2})
		if fmt.Sprint(err) != fmt.Sprint(errAgain) || !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Fatalf("%v and %d bytes, but %v and %d bytes if split differently", err, out.Len(), errAgain, again.Len())
		}
		if err == nil {
			checkRows(t, in, out.Bytes())
		}
	})
}

// checkRows checks that input and output have the same record batches. It does not use the library's reader, which
// trusts damaged lengths and allocates that memory.
func checkRows(t *testing.T, in, out []byte) {
	t.Helper()
	before, after := rowsOf(t, in), rowsOf(t, out)
	if !slices.Equal(before, after) {
		t.Fatalf("record batches of %v rows became %v", before, after)
	}
}

// rowsOf returns the number of rows of each record batch.
func rowsOf(t *testing.T, in []byte) (rows []int) {
	t.Helper()
	frames := newFrameReader(bytes.NewReader(in))
	for {
		more, err := frames.hasStream()
		if err != nil || !more {
			return rows
		}
		for m := new(message); ; {
			if err := frames.next(m); err != nil {
				t.Fatal(err)
			}
			if m.kind == kindEnd {
				break
			}
			if m.kind == kindRecord {
				r, err := readRecord(m.table, m.body)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, r.rows)
			}
		}
	}
}
