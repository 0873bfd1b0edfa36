package capture

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// A cuttable is a file of captures, and the positions at which a cut is not noticed: between two records or their
// members.
type cuttable struct {
	name  string
	data  []byte
	clean map[int]bool
}

// cuttables returns a file of n captures in each format.
func cuttables(tb testing.TB, n int) []cuttable {
	tb.Helper()
	var files []cuttable
	for name, record := range map[string]func(i int) []byte{
		"x.warc": func(i int) []byte { return makeRecord(i, 60).raw },
		"x.jsonl": func(i int) []byte {
			return fmt.Appendf(nil, `{"origin": "https://host%d.example", "status": 200, "body": "# %d é\n"}`+"\n", i, i)
		},
	} {
		plain := cuttable{name: name, clean: map[int]bool{0: true}}
		own := [2]cuttable{
			{name: name + ".gz", clean: map[int]bool{0: true}},
			{name: name + ".zst", clean: map[int]bool{0: true}},
		}
		for i := range n {
			raw := record(i)
			plain.data = append(plain.data, raw...)
			end := len(plain.data)
			plain.clean[end], plain.clean[end-1] = true, true
			if name == "x.warc" { // a block ends in two line ends, which may both be missing
				plain.clean[end-2], plain.clean[end-3], plain.clean[end-4] = true, true, true
			}
			own[0].data = append(own[0].data, testpack.Gzip(tb, raw)...)
			own[1].data = append(own[1].data, testpack.Zstd(tb, raw)...)
			own[0].clean[len(own[0].data)], own[1].clean[len(own[1].data)] = true, true
		}
		one := func(packed []byte, end string) cuttable {
			return cuttable{name + end, packed, map[int]bool{0: true, len(packed): true}}
		}
		files = append(files, plain, own[0], own[1], one(testpack.Gzip(tb, plain.data), ".gz"), one(testpack.Zstd(tb, plain.data), ".zst"))
	}
	return files
}

// TestCutFiles truncates files of captures at each byte. Each cut that is not between two records must be a damage, or
// leave nothing readable, and must not be counted as a corrupt record.
func TestCutFiles(t *testing.T) {
	for _, f := range cuttables(t, 4) {
		for end := range len(f.data) + 1 {
			p := NewPass(new(atomic.Int64))
			var got []string
			collect := func(r robots.Response) bool {
				got = append(got, string(r.Origin))
				return true
			}
			_, err := p.read(f.name, bytes.NewReader(f.data[:end]), int64(end), unpack.Named(f.name), collect)
			damages := p.Damages()
			switch {
			case f.clean[end] && (err != nil || len(damages) > 0 || p.problems.Total > 0):
				t.Errorf("%s cut at %d of %d: %v, %v, %v", f.name, end, len(f.data), err, damages, p.problems.First)
			case f.clean[end]:
			case err != nil && (!errors.Is(err, ErrNoCapture) || len(got) > 0):
				t.Errorf("%s cut at %d of %d: %v", f.name, end, len(f.data), err)
			case err == nil && (len(damages) != 1 || p.problems.Total > 0):
				t.Errorf("%s cut at %d of %d: %d damages, %v", f.name, end, len(f.data), len(damages), p.problems.First)
			}
			for _, d := range damages {
				if d.Unread < 0 || d.Unread > int64(end) || d.Size != int64(end) || !strings.HasPrefix(d.Error(), f.name+": ends too early: ") {
					t.Errorf("%s cut at %d: %+v: %v", f.name, end, d, d)
				}
			}
			p.Release()
		}
	}
}

// TestMissingBytes checks the number of missing bytes of a truncated record.
func TestMissingBytes(t *testing.T) {
	data := append(makeRecord(1, 100).raw, makeRecord(2, 100).raw...)
	for _, name := range []string{"x.warc", "x.warc.zst"} {
		cut := data[:len(data)-4-30]
		if name != "x.warc" {
			cut = testpack.Zstd(t, cut)
		}
		p := NewPass(new(atomic.Int64))
		path := testpack.WriteFile(t, t.TempDir(), name, cut)
		if _, err := p.Read(path, path, unpack.Named(filepath.Base(path)), func(robots.Response) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if d := p.Damages(); len(d) != 1 || d[0].Missing != 30 {
			t.Errorf("%s: %+v", name, d)
		}
		p.Release()
	}
}

// TestDamageInTheMiddle checks that, after a member that cannot be unpacked or has a wrong checksum, the next is used
// if each record has its own. After any other fault nothing is used, and the damage names the fault.
func TestDamageInTheMiddle(t *testing.T) {
	one, two, three := makeRecord(1, 100).raw, makeRecord(2, 100).raw, makeRecord(3, 100).raw
	first, last := testpack.Gzip(t, one), testpack.Gzip(t, three)
	wrong := testpack.Gzip(t, two)
	wrong[len(wrong)-8] ^= 1
	many := testpack.Gzip(t, slices.Concat(one, two, three))
	manyWrong := bytes.Clone(many)
	manyWrong[len(manyWrong)-8] ^= 1
	line := []byte("{\"origin\": \"https://host1.example\", \"status\": 404}\n")
	for name, c := range map[string]struct {
		data     []byte
		used     int
		problems int64
		damage   string // the start of its text; "" if there is none
	}{
		"a.warc":     {slices.Concat(one, two[:len(two)-20], three), 1, 0, fmt.Sprintf("is damaged: record at byte %d: the length of the record is wrong: ", len(one))},
		"b.warc":     {slices.Concat(one, withLength(two, "99999"), three), 1, 0, fmt.Sprintf("ends too early: record at byte %d: the length of the record is wrong: ", len(one))},
		"c.warc.gz":  {slices.Concat(first, testpack.Gzip(t, two[:len(two)-20]), last), 1, 0, fmt.Sprintf("is damaged: record at byte %d: the length of the record is wrong", len(first))},
		"d.warc.gz":  {slices.Concat(first, testpack.Gzip(t, two)[:100], last), 2, 1, ""},
		"e.warc.gz":  {slices.Concat(first, wrong, last), 2, 1, ""},
		"f.warc.gz":  {slices.Concat(first, wrong), 1, 0, fmt.Sprintf("is damaged: record at byte %d: gzip: the checksum is wrong", len(first))},
		"g.warc.gz":  {slices.Concat(first, wrong, wrong, last), 2, 1, ""},
		"h.warc.gz":  {slices.Concat(many, wrong, last), 3, 0, fmt.Sprintf("is damaged: record at byte %d: gzip: the checksum is wrong", len(many))},
		"i.warc.gz":  {slices.Concat(first, manyWrong, last), 3, 0, fmt.Sprintf("is damaged: record at byte %d of the text of the part at byte %d: gzip: the checksum is wrong", len(one)+len(two), len(first))},
		"j.warc.gz":  {slices.Concat(first, wrong, many), 3, 1, fmt.Sprintf("is damaged: record at byte %d: gzip: the checksum is wrong", len(first))},
		"n.warc.gz":  {slices.Concat(first, last, make([]byte, 1000)), 2, 0, ""}, // gzip allows zeros
		"o.warc.gz":  {slices.Concat(first, make([]byte, 1000), last), 2, 1, ""},
		"k.jsonl":    {slices.Concat([]byte("{\n"), line), 1, 1, ""},
		"l.jsonl":    {slices.Concat(line, []byte("{\n")), 1, 1, ""},
		"m.jsonl.gz": {slices.Concat(testpack.Gzip(t, line), testpack.Gzip(t, line)[:40], testpack.Gzip(t, line)), 1, 0, fmt.Sprintf("is damaged: line 2, in the part at byte %d: gzip: ", len(testpack.Gzip(t, line)))},
	} {
		p, used := NewPass(new(atomic.Int64)), 0
		path := testpack.WriteFile(t, t.TempDir(), name, c.data)
		_, err := p.Read(path, path, unpack.Named(name), func(robots.Response) bool {
			used++
			return true
		})
		damage := ""
		if d := p.Damages(); len(d) == 1 {
			damage = d[0].Lost()
		}
		if err != nil || used != c.used || p.problems.Total != c.problems || !strings.HasPrefix(damage, c.damage) || (damage == "") != (c.damage == "") {
			t.Errorf("%s: %v, %d used, problems %v, damage %q", name, err, used, p.problems.First, damage)
		}
		p.Release()
	}
}

// TestMutants flips bits in packed files of captures, and truncates them. If the captures differ from those of the
// whole file, there must be a problem or a damage.
func TestMutants(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 150
	}
	r := rand.New(rand.NewPCG(5, 6))
	undisclosed, changed := 0, 0
	for _, f := range cuttables(t, 12) {
		if f.name == "x.warc" || f.name == "x.jsonl" {
			continue // without a digest, altered bytes are not detected
		}
		whole, _, _ := readMutant(t, f.name, f.data)
		for range rounds {
			data := bytes.Clone(f.data)
			for range 1 + r.IntN(3) {
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			}
			if r.IntN(4) == 0 {
				end := r.IntN(len(data))
				if f.clean[end] {
					continue
				}
				data = data[:end]
			}
			got, told, err := readMutant(t, f.name, data)
			if slices.Equal(got, whole) {
				continue
			}
			changed++
			if !told && err == nil {
				undisclosed++
				t.Errorf("%s: %d captures of %d, and nothing tells why", f.name, len(got), len(whole))
			}
		}
	}
	t.Logf("%d changed, %d undisclosed", changed, undisclosed)
	if changed < rounds {
		t.Errorf("only %d mutants changed anything", changed)
	}
}

// readMutant returns the captures of a file, and whether there was a problem, a damage or an error.
func readMutant(t *testing.T, name string, data []byte) (got []string, told bool, err error) {
	t.Helper()
	p := NewPass(new(atomic.Int64))
	defer p.Release()
	_, err = p.read(name, bytes.NewReader(data), int64(len(data)), unpack.Named(name), func(r robots.Response) bool {
		got = append(got, fmt.Sprint(r.Origin, r.Status, r.FetchedAt, string(r.Body)))
		return true
	})
	return got, p.problems.Total > 0 || len(p.Damages()) > 0, err
}
