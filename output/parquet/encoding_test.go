package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// decodeHybrid decodes the output of appendHybrid, according to the specification.
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

// unpack reads n values, bit by bit.
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

// decodeDeltas decodes the output of appendDeltas, according to the specification.
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
		got := unpack[int32](AppendBits(nil, values), 1, n)
		for i := range values {
			if got[i] != int32(values[i]) {
				t.Fatalf("%d became %d", values, got)
			}
		}
	}
}

// TestStreakEncodings tests that encodings of streaks and of rows give the same bytes.
func TestStreakEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		width, longest := 1+rng.IntN(20), 1+rng.IntN(40)
		var streaks []streak
		var values []int32
		var bits []int16
		for range rng.IntN(30) {
			r := streak{rng.Int32N(1 << width), 1 + rng.IntN(longest)}
			if n := len(streaks); n > 0 && streaks[n-1].value == r.value {
				continue
			}
			streaks = append(streaks, r)
			values = append(values, slices.Repeat([]int32{r.value}, r.rows)...)
		}
		e := &Encoder{}
		if got, want := e.appendHybridStreaks(nil, streaks, width), appendHybrid(nil, values, width); !bytes.Equal(got, want) {
			t.Fatalf("width %d, streaks %v: %x, by value %x", width, streaks, got, want)
		}
		for i := range streaks {
			streaks[i].value &= 1
			bits = append(bits, slices.Repeat([]int16{int16(streaks[i].value)}, streaks[i].rows)...)
		}
		if got, want := appendBitStreaks(nil, streaks), AppendBits(nil, bits); !bytes.Equal(got, want) {
			t.Fatalf("bits %v: %x, by value %x", streaks, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 1000 {
		var values, want, lengths []int32
		for i := range rng.Int32N(20) {
			n := 1 + rng.Int32N(5)
			values, lengths = append(values, i), append(lengths, n)
			want = append(want, slices.Repeat([]int32{i}, int(n))...)
		}
		if got := expandStreaks(values, lengths); !slices.Equal(got, want) {
			t.Fatalf("streaks of %d give %d, want %d", lengths, got, want)
		}
	}
}
