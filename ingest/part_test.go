package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
)

// partLog returns a log with empty, overlong and malformed lines and holes of NULs.
func partLog(format string, size int, r *rand.Rand) []byte {
	var text bytes.Buffer
	for i := 0; text.Len() < size; i++ {
		path := fmt.Sprintf("/%d/%x", i, r.Uint64())
		switch end := "\n"; r.IntN(4000) {
		case 0:
			text.WriteString(end)
			continue
		case 1:
			path += strings.Repeat("x", r.IntN(3*MaxLine))
		case 2:
			text.WriteString("neither this\r\n")
			continue
		case 3:
			text.Write(make([]byte, 1+r.IntN(20)))
		}
		switch format {
		case "urls":
			fmt.Fprintf(&text, "https://www.example.com%s\n", path)
		case "combined":
			fmt.Fprintf(&text, "192.0.2.1 - - [29/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" 200 5 \"-\" \"Googlebot/2.1\"\r\n", path)
		case "json":
			fmt.Fprintf(&text, "{\"time\":%d,\"url\":\"https://www.example.com%s\",\"n\":{\"a\":1}}\n", i, path)
		case "logfmt":
			fmt.Fprintf(&text, "time=%d url=https://www.example.com%s agent=\"a b\"\n", i, path)
		case "ltsv":
			fmt.Fprintf(&text, "time:%d\turl:https://www.example.com%s\tn:5\n", i, path)
		}
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// partRows returns a line for each row of a part, and the counts.
func partRows(path string, opt LogOptions, part Part) (rows []string, c Counts, err error) {
	opt.Part, opt.Raws = part, true
	l, err := OpenLogs([]string{path}, opt)
	if err != nil {
		return nil, c, err
	}
	var b engine.Batch
	for l.Next(&b) {
		for i := range b.Len() {
			row := fmt.Sprintf("%d %q", b.Lines[i], b.URL(i))
			if len(b.Offsets) > 0 {
				row += fmt.Sprintf(" at %d", b.Offsets[i])
			}
			rows = append(rows, row)
		}
	}
	c = l.Counts()
	return rows, c, errors.Join(l.Err(), l.Close())
}

// randomParts splits a text into parts at random positions.
func randomParts(size int64, r *rand.Rand) (parts []Part) {
	cuts := []int64{0}
	for range 1 + r.IntN(4) {
		cuts = append(cuts, LeastPart+r.Int64N(size-LeastPart))
	}
	slices.Sort(cuts)
	cuts = append(slices.Compact(cuts), 0)
	for i := range cuts[1:] {
		parts = append(parts, Part{cuts[i], cuts[i+1]})
	}
	return parts
}

// TestParts reads logs in parts, which together must have the rows, lines and counts of the whole log.
func TestParts(t *testing.T) {
	r, rounds := rand.New(rand.NewPCG(3, 4)), 5
	if testing.Short() {
		rounds = 1
	}
	for _, format := range []string{"urls", "combined", "json", "logfmt", "ltsv"} {
		text := partLog(format, 6<<20, r)
		frames := bytes.Join([][]byte{testpack.Zstd(t, text[:2<<20]), testpack.Skippable(9), testpack.Zstd(t, text[2<<20:5<<20]), testpack.Zstd(t, text[5<<20:])}, nil)
		for name, data := range map[string][]byte{"text": text, "frame": testpack.Zstd(t, text), "frames": frames, "gzip": testpack.Gzip(t, text)} {
			path := testpack.WriteFile(t, t.TempDir(), "log", data)
			opt := LogOptions{Ahead: 3 * r.IntN(2), Fields: Fields{Base: "https://www.example.com"}}
			size, err := TextSize(path, opt)
			if want := int64(len(text)); err != nil || name == "gzip" && size != 0 || name != "gzip" && size != want {
				t.Errorf("%s as %s: TextSize: %d and %v, want %d", format, name, size, err, want)
			}
			want, wantCounts, err := partRows(path, opt, Part{})
			if err != nil || len(want) < 10_000 {
				t.Fatalf("%s as %s: %d rows and %v", format, name, len(want), err)
			}
			for range rounds {
				var got []string
				var lines, headers, empty, long, joined, refused int64
				parts := randomParts(int64(len(text)), r)
				for _, part := range parts {
					rows, c, err := partRows(path, opt, part)
					if err != nil {
						t.Fatalf("%s as %s: %v: %v", format, name, part, err)
					}
					got = append(got, rows...)
					lines, headers, empty, long, joined = lines+c.Bytes, headers+c.Headers, empty+c.Empty, long+c.Long, joined+c.Joined
					for _, n := range c.Refused {
						refused += n
					}
				}
				for _, n := range wantCounts.Refused {
					refused -= n
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s as %s: %d rows in the parts %v, and %d in all", format, name, len(got), parts, len(want))
				}
				w := &wantCounts
				if lines != w.Bytes || headers != w.Headers || empty != w.Empty || long != w.Long || joined != w.Joined || refused != 0 {
					t.Errorf("%s as %s: counts of the parts %v: %d %d %d %d %d, %d refused more, and of all %+v", format, name, parts, lines, headers, empty, long, joined, refused, w)
				}
			}
		}
	}
}

// TestPartsDamaged damages a frame. A part that ends at or before it must have the original rows or an error.
func TestPartsDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	text := partLog("urls", 6<<20, r)
	good := testpack.Zstd(t, text)
	dir := t.TempDir()
	path := testpack.WriteFile(t, dir, "good", good)
	bad := slices.Clone(good)
	bad[len(bad)-2] ^= 1 // part of the checksum
	badPath := testpack.WriteFile(t, dir, "bad", bad)
	for _, part := range []Part{{}, {0, 5 << 20}, {5 << 20, 0}} {
		if _, _, err := partRows(path, LogOptions{}, part); err != nil {
			t.Errorf("%v: %v", part, err)
		}
		if _, _, err := partRows(badPath, LogOptions{}, part); err == nil {
			t.Errorf("%v of a frame whose checksum is wrong has no error", part)
		}
	}
}

// TestPartsRefused lists logs that cannot be read in parts.
func TestPartsRefused(t *testing.T) {
	dir := t.TempDir()
	rows := strings.Repeat("https://www.example.com/a,1\n", 300_000)
	table := testpack.WriteFile(t, dir, "table.csv", []byte("url,n\n"+rows))
	wide := testpack.WriteFile(t, dir, "wide.txt", []byte("\xff\xfe"+strings.Join(strings.Split(strings.Repeat("http://a.com/x\n", 9000), ""), "\x00")+"\x00"))
	empty := testpack.WriteFile(t, dir, "empty.txt", nil)
	for _, path := range []string{table, wide, empty, dir + "/none"} {
		if size, err := TextSize(path, LogOptions{}); size != 0 || err != nil {
			t.Errorf("%s: %d and %v", path, size, err)
		}
	}
	for _, part := range []Part{{0, 5 << 20}, {5 << 20, 0}} {
		if _, _, err := partRows(table, LogOptions{}, part); !errors.Is(err, errPart) {
			t.Errorf("a table: %v: %v", part, err)
		}
	}
	list := testpack.WriteFile(t, dir, "list.txt", testpack.HardText(100_000))
	for _, part := range []Part{{-1, 0}, {5, 4}, {5, 5}, {5, 0}} {
		if _, _, err := partRows(list, LogOptions{}, part); !errors.Is(err, errPart) {
			t.Errorf("%v: %v", part, err)
		}
	}
}

// TestPartsOfParquet reads parts of Parquet files, which are row groups.
func TestPartsOfParquet(t *testing.T) {
	path := testpack.WriteFile(t, t.TempDir(), "a.parquet", makeParquet(t, 300, 0, 1, 500, 20, 400))
	size, err := TextSize(path, LogOptions{BatchRows: 10, Fields: Fields{Base: "https://www.example.com"}})
	if err != nil || size < 1221*128 {
		t.Fatal(size, err)
	}
	opt := LogOptions{Fields: Fields{Base: "https://www.example.com"}}
	want, _, err := partRows(path, opt, Part{})
	if err != nil || len(want) != 1221 {
		t.Fatal(err)
	}
	for n := int64(1); n < 9; n++ {
		var got []string
		for i := range n {
			part := Part{size * i / n, size * (i + 1) / n}
			if i == n-1 {
				part.To = 0
			}
			rows, _, err := partRows(path, opt, part)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rows...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d parts have %d rows, and all has %d", n, len(got), len(want))
		}
	}
}
