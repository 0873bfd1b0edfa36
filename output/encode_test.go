package output

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// decodeHybrid is the reading side of appendHybrid, as the format describes it.
func decodeHybrid(t *testing.T, data []byte, width, n int) []int32 {
	t.Helper()
	var out []int32
	for len(out) < n {
		header, size := binary.Uvarint(data)
		if size <= 0 {
			t.Fatalf("no header after %d of %d values", len(out), n)
		}
		data = data[size:]
		count := int(header >> 1)
		if header&1 == 0 {
			var v uint32
			for i := range (width + 7) / 8 {
				v |= uint32(data[i]) << (8 * i)
			}
			out = append(out, slices.Repeat([]int32{int32(v)}, count)...)
			data = data[(width+7)/8:]
			continue
		}
		out = append(out, unpack[int32](data, width, 8*count)...)
		data = data[width*count:]
	}
	if len(data) != 0 {
		t.Fatalf("%d bytes left", len(data))
	}
	return out[:n]
}

// unpack reads n values bit by bit.
func unpack[T int32 | int64](data []byte, width, n int) []T {
	out := make([]T, n)
	for i := range n * width {
		bit := data[i/8] >> (i % 8) & 1
		out[i/width] |= T(bit) << (i % width)
	}
	return out
}

func TestHybrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for width := range 32 {
		for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 1000} {
			for _, repeat := range []int{1, 3, 20} {
				values := make([]int32, n)
				var v int32
				for i := range values {
					if rng.IntN(repeat) == 0 {
						v = int32(rng.Uint64N(1 << width))
					}
					values[i] = v
				}
				if got := decodeHybrid(t, appendHybrid(nil, values, width), width, n); !slices.Equal(got, values) {
					t.Fatalf("width %d, repeat %d: %d became %d", width, repeat, values, got)
				}
			}
		}
	}
}

// decodeDeltas is the reading side of appendDeltas, as the format describes it.
func decodeDeltas(t *testing.T, data []byte) []int64 {
	t.Helper()
	next := func() uint64 {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			t.Fatal("no number")
		}
		data = data[size:]
		return v
	}
	signed := func() int64 { v := next(); return int64(v>>1) ^ -int64(v&1) }
	block, minis, n := int(next()), int(next()), int(next())
	out := []int64{signed()}
	for len(out) < n {
		least := signed()
		widths := data[:minis]
		data = data[minis:]
		for _, w := range widths {
			if len(out) >= n {
				break
			}
			for _, d := range unpack[int64](data, int(w), block/minis) {
				out = append(out, out[len(out)-1]+least+d)
			}
			data = data[int(w)*block/minis/8:]
		}
	}
	if len(data) != 0 {
		t.Fatalf("%d bytes left", len(data))
	}
	return out[:n]
}

func TestDeltas(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 32, 33, 128, 129, 130, 1000} {
		for _, spread := range []int64{0, 1, 2, 1000, math.MaxInt32, math.MaxInt64 / 2} {
			t.Run(fmt.Sprintf("n=%d/spread=%d", n, spread), func(t *testing.T) {
				values := make([]int64, n)
				for i := range values {
					values[i] = int64(i)
					if spread > 0 {
						values[i] += rng.Int64N(2*spread) - spread
					}
				}
				if got := decodeDeltas(t, appendDeltas(nil, values)); !slices.Equal(got, values) {
					t.Errorf("%d became %d", values, got)
				}
			})
		}
	}
}

func TestPackBits(t *testing.T) {
	for n := range 20 {
		values := make([]int16, n)
		for i := range values {
			values[i] = int16(i % 3 & 1)
		}
		got := unpack[int32](packBits(nil, values), 1, n)
		for i := range values {
			if got[i] != int32(values[i]) {
				t.Fatalf("%d became %d", values, got)
			}
		}
	}
}

func FuzzAppendValid(f *testing.F) {
	for _, s := range []string{"", "a", "é", "\xff", "a\xc3", "\xe2\x82", "\xef\xbf\xbd\xef", "\xf0\x9f\x98\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, escaped := appendValid(nil, []byte(s))
		if string(got) != escape(s) || len(got) != len(s)+2*escaped {
			t.Errorf("%q became %q, %d escaped; want %q", s, got, escaped, escape(s))
		}
	})
}

func TestDictionary(t *testing.T) {
	d := newDictionary()
	for range 2 {
		for i := range 5000 {
			text := fmt.Appendf(nil, "text %d", i/2)
			if id := d.add(text, i%2); int(id) != i/2 || string(d.at(id)) != string(text) {
				t.Fatalf("%s is number %d, %q", text, id, d.at(id))
			}
		}
		if d.len() != 2500 {
			t.Fatalf("%d texts", d.len())
		}
		d.reset()
	}
}
