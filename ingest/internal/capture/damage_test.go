package capture

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/robots"
)

// A testRecord is a WARC record of a capture.
type testRecord struct {
	origin string
	raw    []byte // not packed
	packed []byte // as in the file
}

// makeRecord returns a record for host n whose body has about size bytes. If n is even, it has a digest.
func makeRecord(n, size int) testRecord {
	origin := fmt.Sprintf("https://host%d.example", n)
	body := fmt.Sprintf("# %d\nUser-agent: *\n", n) + strings.Repeat(fmt.Sprintf("Disallow: /%d/\n", n), size/16+1)
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
	digest := ""
	if n%2 == 0 {
		digest = fmt.Sprintf("WARC-Block-Digest: sha1:%x\r\n", sha1.Sum([]byte(block)))
	}
	head := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s/robots.txt\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"+
		"WARC-Record-ID: <urn:uuid:%036d>\r\nContent-Type: application/http; msgtype=response\r\n%sContent-Length: %d\r\n\r\n", origin, n, digest, len(block))
	return testRecord{origin: origin, raw: []byte(head + block + "\r\n\r\n")}
}

// withLength returns the record with another Content-Length.
func withLength(raw []byte, length string) []byte {
	i := bytes.Index(raw, []byte("Content-Length: ")) + len("Content-Length: ")
	j := i + bytes.IndexByte(raw[i:], '\r')
	return slices.Concat(raw[:i], []byte(length), raw[j:])
}

// damages are ways to corrupt an unpacked record.
var damages = []struct {
	name string
	do   func(raw []byte, r *rand.Rand) []byte
}{
	{"no magic", func(raw []byte, _ *rand.Rand) []byte { return append([]byte("XXXX"), raw[4:]...) }},
	{"version", func(raw []byte, _ *rand.Rand) []byte { return append([]byte("WARC/9"), raw[6:]...) }},
	{"negative length", func(raw []byte, _ *rand.Rand) []byte { return withLength(raw, "-5") }},
	{"no number", func(raw []byte, _ *rand.Rand) []byte { return withLength(raw, "12x") }},
	{"huge length", func(raw []byte, _ *rand.Rand) []byte { return withLength(raw, "9223372036854775807") }},
	{"too huge length", func(raw []byte, _ *rand.Rand) []byte { return withLength(raw, "92233720368547758070") }},
	{"long length", func(raw []byte, r *rand.Rand) []byte { return withLength(raw, strconv.Itoa(len(raw)+r.IntN(5000))) }},
	{"longer length", func(raw []byte, r *rand.Rand) []byte { return withLength(raw, strconv.Itoa(100_000+r.IntN(100_000))) }},
	{"short length", func(raw []byte, r *rand.Rand) []byte { return withLength(raw, strconv.Itoa(r.IntN(60))) }},
	{"cut in the header", func(raw []byte, r *rand.Rand) []byte { return raw[:10+r.IntN(100)] }},
	{"cut in the block", func(raw []byte, r *rand.Rand) []byte { return raw[:len(raw)-5-r.IntN(60)] }},
	{"no status", func(raw []byte, _ *rand.Rand) []byte {
		return bytes.Replace(raw, []byte("HTTP/1.1 200"), []byte("GARB/1.1 abc"), 1)
	}},
	{"no date", func(raw []byte, _ *rand.Rand) []byte {
		return bytes.Replace(raw, []byte("WARC-Date: 2"), []byte("WARC-Date: x"), 1)
	}},
	{"no host", func(raw []byte, _ *rand.Rand) []byte {
		return bytes.Replace(raw, []byte("https://host"), []byte("https://ho t"), 1)
	}},
	{"endless header", func(raw []byte, _ *rand.Rand) []byte {
		return slices.Concat(raw[:10], bytes.Repeat([]byte("x"), 100_000), raw[10:])
	}},
	{"many fields", func(raw []byte, _ *rand.Rand) []byte {
		return slices.Concat(raw[:10], bytes.Repeat([]byte("X-Field: value\r\n"), 20_000), raw[10:])
	}},
	{"wrong digest", func(raw []byte, _ *rand.Rand) []byte {
		return bytes.Replace(raw, []byte("WARC-Date:"), []byte("WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nWARC-Date:"), 1)
	}},
	{"nothing", func([]byte, *rand.Rand) []byte { return []byte("garbage\r\n\r\n") }},
}

// packedDamages are ways to corrupt a packed record.
var packedDamages = []struct {
	name string
	do   func(packed []byte, r *rand.Rand) []byte
}{
	{"magic", func(p []byte, _ *rand.Rand) []byte { p[0] ^= 0xff; return p }},
	{"cut", func(p []byte, r *rand.Rand) []byte { return p[:5+r.IntN(len(p)-10)] }},
	{"cut by one", func(p []byte, _ *rand.Rand) []byte { return p[:len(p)-1] }},
	{"checksum", func(p []byte, _ *rand.Rand) []byte { p[len(p)-1-4*int(p[0]&1)] ^= 0x10; return p }}, // the checksum of gzip is before the size
	{"garbage inside", func(p []byte, r *rand.Rand) []byte {
		at := 20 + r.IntN(len(p)-30)
		for i := range min(8, len(p)-at) {
			p[at+i] = byte(r.Uint32())
		}
		return p
	}},
	{"garbage behind", func(p []byte, r *rand.Rand) []byte { p[3] ^= 0xff; return append(p, byte(r.Uint32()), 1, 2, 3) }},
}

// senseless are the damages after which the end of the record is known, so that later records count.
var senseless = []string{"no status", "no date", "no host", "wrong digest"}

// checkDamaged reads a file with some corrupt records. It checks that every other record is used, up to the one where
// reading stops, and no corrupt one.
func checkDamaged(t *testing.T, name string, records []testRecord, broken map[int]string, stop int) {
	t.Helper()
	var file []byte
	for _, r := range records {
		file = append(file, r.packed...)
	}
	got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), name, file))
	seen := make(map[string]robots.Response)
	for _, r := range slices.DeleteFunc(got, isFailure) {
		seen[string(r.Origin)] = r
	}
	for i, r := range records {
		_, used := seen[r.origin]
		switch how, isBroken := broken[i]; {
		case isBroken && used:
			t.Errorf("record %d (%s) was used", i, how)
		case i > stop && used:
			t.Errorf("record %d was used, behind the fault of %d (%s)", i, stop, broken[stop])
		case !isBroken && !used && i < stop:
			t.Errorf("record %d was not used; the one before: %q; %v", i, broken[i-1], problems.First[:min(3, len(problems.First))])
		case used && !bytes.HasSuffix(r.raw, append(seen[r.origin].Body, "\r\n\r\n"...)):
			t.Errorf("record %d: another body", i)
		}
	}
	if stop == len(records) && problems.Total < int64(len(broken))/2 {
		t.Errorf("%d problems of %d broken records", problems.Total, len(broken))
	}
}

// TestWARCDamage corrupts one record in ten, in each way in turn, in files of each format.
func TestWARCDamage(t *testing.T) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	pack := map[string]func(testing.TB, []byte) []byte{
		"x.warc":     func(_ testing.TB, raw []byte) []byte { return raw },
		"x.warc.gz":  testpack.Gzip,
		"x.warc.zst": func(_ testing.TB, raw []byte) []byte { return encoder.EncodeAll(raw, nil) },
	}
	for name, pack := range pack {
		ways := len(damages)
		if name != "x.warc" {
			ways += len(packedDamages)
		}
		for way := range ways {
			at := 1 + way%9 // of ten records
			if way >= len(damages) {
				at = way - len(damages) // also the first record of the file
			}
			t.Run(fmt.Sprint(name, "/", way), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(way), 7))
				records := make([]testRecord, 60)
				broken := map[int]string{}
				for i := range records {
					records[i] = makeRecord(i, r.IntN(3000))
					raw := records[i].raw
					if i%10 == at && way < len(damages) {
						broken[i] = damages[way].name
						raw = damages[way].do(bytes.Clone(raw), r)
					}
					records[i].packed = pack(t, raw)
					if i%10 == at && way >= len(damages) {
						broken[i] = packedDamages[way-len(damages)].name
						records[i].packed = packedDamages[way-len(damages)].do(records[i].packed, r)
					}
				}
				stop := len(records)
				if way < len(damages) && !slices.Contains(senseless, damages[way].name) {
					stop = at
				}
				checkDamaged(t, name, records, broken, stop)
			})
		}
	}
}

// isFailure reports whether the response is of a record with a corrupt block.
func isFailure(r robots.Response) bool { return r.Error != "" }

// TestWARCDamageShared checks that, if records share a member, none after the first with an unknown end is used.
func TestWARCDamageShared(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for way, damage := range damages {
		var raw []byte
		want := map[string]bool{}
		stopped := false
		for i := range 60 {
			record := makeRecord(i, r.IntN(3000))
			if i%10 == 1+way%9 {
				raw = append(raw, damage.do(record.raw, r)...)
				stopped = stopped || !slices.Contains(senseless, damage.name)
				continue
			}
			if !stopped {
				want[record.origin] = true
			}
			raw = append(raw, record.raw...)
		}
		for name, data := range map[string][]byte{"x.warc.gz": testpack.Gzip(t, raw), "x.warc.zst": testpack.Zstd(t, raw)} {
			got, _ := readAll(t, testpack.WriteFile(t, t.TempDir(), name, data))
			got = slices.DeleteFunc(got, isFailure)
			for _, g := range got {
				if !want[string(g.Origin)] {
					t.Errorf("%s, %s: %s was used", name, damage.name, g.Origin)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s, %s: %d records were used, want %d", name, damage.name, len(got), len(want))
			}
		}
	}
}

// TestWARCMembersAnywhere divides records into members at random positions.
func TestWARCMembersAnywhere(t *testing.T) {
	var raw []byte
	for i := range 50 {
		raw = append(raw, makeRecord(i, 500).raw...)
	}
	for _, step := range []int{1 + len(raw)/7, 1000, 100} {
		var gz, zst []byte
		for part := range slices.Chunk(raw, step) {
			gz = append(gz, testpack.Gzip(t, part)...)
			zst = append(append(zst, testpack.Zstd(t, part)...), testpack.Skippable(3)...)
		}
		for name, data := range map[string][]byte{"x.warc.gz": gz, "x.warc.zst": zst} {
			if got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), name, data)); len(got) != 50 || problems.Total > 0 {
				t.Errorf("%s in parts of %d: %d responses, %v", name, step, len(got), problems.First)
			}
		}
	}
}
