// Package memory says what -max-memory means: how a size is written, how many workers fit, and who
// gets which part. Only cmd/robobatch imports it.
//
// The parts of the limit L, in bytes:
//
//	the program             11 MiB; Go's runtime gets the rest as its own limit (package load)
//	the index of the pack   its size in the file, and 4 bytes a site
//	the run                 what the work on rows takes, see Run: unpacking, batches, chunks, encoders,
//	                        and the row group or the dictionaries of the output
//	rows that are sorted    up to L/4, if -sort or -partition-by is given
//	what changed            up to L/4, for the command diff, which has two stores with half of the rules' part each
//	what rules do           L/2, for the command coverage: URLs, counts, and what matches
//	rules                   all that is left, at least 4 MiB: package engine/internal/packed divides it
//
// What the run takes was measured, at its most, for each kind of output. With more workers it takes
// more, so there are as many as leave room for rules. If one worker does not, the run does not
// start. No part changes a byte of the output: batches, chunks and row groups end where rows say.
package memory

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
)

const mib = 1 << 20

// Program is what a process takes that Go's runtime does not know of: the program itself.
const Program = 11 * mib

// maxWorkers is the most that -workers may ask for: each has batches of 2 MiB on their way, and a
// chunk to encode.
const maxWorkers = 1024

// CheckWorkers checks the number of goroutines.
func CheckWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("%d is out of range: use 0 for one per processor, or up to %d", n, maxWorkers)
	}
	return nil
}

// A Run is what takes memory besides rules.
type Run struct {
	Limit   int64           // in bytes; 0 or less is none
	Share   Share           // of -max-memory that is Limit
	Workers int             // that are asked for; 0 is one for each processor
	Agents  int             // verdicts of a URL
	Index   int64           // bytes of the pack's index in memory; 0 if there is no pack yet
	Out     *output.Options // of the output; nil for a stream of the command pipe
	Remote  int64           // bytes for what is read and written that is not in the file system

	// Diff is whether rows are decided by two stores, and what changed is counted. Out is then that of
	// the changed rows, with a nil Out for none.
	Diff bool

	// Coverage is whether half of the limit is for what rules do, of the command coverage. There is no Out.
	Coverage bool

	// Window is the largest window of zstd in bytes that the logs are known to need; 0 is as usual.
	Window int64
}

// window returns the window of an unpacker.
func (r Run) window() int64 { return max(window, r.Window) }

// The parts of a run. Each holds for the most that was seen with real and made-up logs.
const (
	unpacker   = 2 * mib   // what is unpacked ahead, beside a window of zstd
	window     = 8 * mib   // of zstd, unless logs need a larger one
	batchText  = mib       // half a MiB of text, and that of the batch before
	chunkLong  = 4 * mib   // 32,768 rows of all columns
	chunkWide  = 14 * mib  // half a million verdicts
	chunkArrow = 24 * mib  // 65,536 rows, and the message that they become
	chunkKept  = mib / 2   // for each extra column
	stream     = 32 * mib  // messages that come and go
	encoder    = 5 * mib   // a page, packed and not, and the window of zstd
	lines      = 12 * mib  // a piece of lines, packed and not
	rowGroup   = 18 * mib  // pages, and 8 MiB of dictionaries as texts, page and packed
	groupWide  = 24 * mib  // and pages of 16 million verdicts
	groupKept  = 2 * mib   // and those of an extra column
	bloom      = 12 * mib  // hashes, and the filters
	lineDicts  = 20 * mib  // 4 MiB of dictionaries, twice: as texts and as lines have them
	slowZstd   = 40 * mib  // tables of an encoder of level 10 or more
	leastSort  = 8 * mib   // rows that are sorted at once
	rowsPart   = 4         // the part of the limit that is for rows that are sorted
	dictPart   = 4         // the same for the dictionaries of an Arrow file
	perAhead   = 128 * mib // for each unpacker but the first, of the limit
	verdicts   = 64 << 10  // of a batch
	leastRows  = 256       // of a batch
	mostRows   = 8192      // of a batch, unless fewer are asked for
	rowSize    = 100       // of a batch: places, numbers, and the names of sites
	countsPart = 4         // the part of the limit that is for what changed
	countsMore = 11        // eighths of the memory for URLs that all counts take, see aggregate.ChangesOptions
	oldRow     = 24        // of a batch that is decided twice
	oldVerdict = 9         // the same, for each agent
)

// Parts are what a run may take.
type Parts struct {
	Workers   int   // as many as there is room for, at most those that are asked for
	Unpackers int   // goroutines that unpack ahead; 0 is one for each worker
	BatchRows int   // the most rows of a batch; 0 is as usual
	Sort      int64 // bytes of rows that are sorted; 0 is as usual
	Dicts     int64 // bytes of the dictionaries of an Arrow file; 0 is no limit
	Window    int64 // the most bytes of a window of zstd; 0 is as usual
	Reserved  int64 // bytes of the limit that are neither for rules nor for their index
	Counts    int64 // bytes for the URLs that changed, with Diff; 0 is as usual
	Note      string
}

// Divide divides the limit. Without one, all is as usual. The error says that the limit has no room
// for the run.
func (r Run) Divide() (Parts, error) {
	if r.Limit <= 0 {
		return Parts{Workers: r.Workers}, nil
	}
	asked := min(cmp.Or(r.Workers, runtime.GOMAXPROCS(0)), maxWorkers)
	p := Parts{Workers: 1, Unpackers: 1, BatchRows: min(mostRows, max(leastRows, verdicts/max(1, r.Agents)))}
	p.Dicts, p.Window = r.dicts(), r.window()
	if r.Diff {
		p.Counts = countsOf(r.Limit)
	}
	if !r.fits(p) {
		return p, r.tooSmall(p)
	}
	for p.Workers < asked {
		more := p
		more.Workers++
		more.Unpackers = min(more.Workers, 1+int(r.room()/perAhead))
		if !r.fits(more) {
			p.Note = fmt.Sprintf("-max-memory %s has room for %s", r.Share.Text(r.Limit), say.Count(int64(p.Workers), "worker"))
			break
		}
		p = more
	}
	if r.sorts() {
		left := r.Limit - Program - r.Index - r.reserved(&p) - engine.MinRules
		p.Sort = min(r.Limit/rowsPart, leastSort+left/2)
	}
	p.Reserved = r.reserved(&p)
	return p, nil
}

// reserved returns what all but rules and their index take.
func (r Run) reserved(p *Parts) int64 {
	batches, chunks, workers := int64(1), int64(1), int64(p.Workers)
	if workers > 1 {
		batches, chunks = 2*workers+2, workers+1
	}
	kept := int64(0)
	if r.Out != nil {
		kept = int64(len(r.Out.Kept))
	}
	batch := batchText + int64(p.BatchRows)*(rowSize+8*int64(r.Agents)+16*kept)
	size := int64(p.Unpackers)*(unpacker+r.window()) + batches*batch + r.Remote
	if r.Diff {
		size += p.Counts*countsMore/8 + batches*int64(p.BatchRows)*int64(oldRow+oldVerdict*r.Agents)
	}
	if r.Out == nil && (r.Diff || r.Coverage) {
		return size
	}
	if r.Out == nil {
		return size + stream
	}
	if r.sorts() {
		size += max(p.Sort, leastSort)
	}
	chunk := chunkLong + chunkKept*kept
	if r.Out.Layout == output.Wide {
		chunk += chunkWide - chunkLong
	}
	switch r.Out.Format {
	case output.Parquet:
		size += chunks*chunk + workers*r.encoder() + rowGroup + groupKept*kept
		if r.Out.Layout == output.Wide {
			size += groupWide
		}
		if len(r.Out.Bloom) > 0 {
			size += bloom
		}
	case output.ArrowFile, output.ArrowStream:
		size += 2*chunk + chunkArrow + p.Dicts
	default:
		size += chunks*chunk + workers*lines + lineDicts
	}
	return size
}

// fits reports whether the limit has room for a run of these parts.
func (r Run) fits(p Parts) bool { return Program+r.Index+r.reserved(&p)+r.minRules() <= r.room() }

// room returns the part of the limit that is for the run.
func (r Run) room() int64 {
	if r.Coverage {
		return r.Limit / 2
	}
	return r.Limit
}

// countsOf returns the bytes for the URLs that changed, of a limit.
func countsOf(limit int64) int64 {
	return min(limit/countsPart*8/countsMore, aggregate.DefaultMemory)
}

// minRules returns the least room for the rules of all stores.
func (r Run) minRules() int64 {
	if r.Diff {
		return 2 * engine.MinRules
	}
	return engine.MinRules
}

// encoder returns what an encoder of Parquet takes.
func (r Run) encoder() int64 {
	if r.Out.Level >= 10 {
		return encoder + slowZstd
	}
	return encoder
}

// sorts reports whether rows are sorted.
func (r Run) sorts() bool {
	return r.Out != nil && (r.Out.Sort != output.SortNone || len(r.Out.Partition) > 0)
}

// dicts returns what the dictionaries of an Arrow file may take: no less than those of all origins of
// the pack do, which is twice their index.
func (r Run) dicts() int64 {
	if r.Out == nil || r.Out.Format != output.ArrowFile {
		return 0
	}
	return max(r.Limit/dictPart, 9*r.Index/4)
}

// tooSmall returns the error of a limit that has no room for a run with one worker.
func (r Run) tooSmall(p Parts) error {
	for whole := r.Share.Whole(r.Limit); ; whole += step {
		need := r
		need.Limit = r.Share.of(whole)
		p.Dicts = need.dicts()
		if r.Diff {
			p.Counts = countsOf(need.Limit)
		}
		if !need.fits(p) {
			continue
		}
		index := ""
		if r.Index >= mib {
			index = fmt.Sprintf(", %s of it for the index of the pack", Text(r.Index))
		}
		if r.Window > window {
			index += fmt.Sprintf(", %s of it for the window of zstd that a log has", Text(r.Window))
		}
		return fmt.Errorf("%s is less than this run needs%s: use %s or more", r.Share.Text(r.Limit), index, Text(whole))
	}
}

// Text returns a size as it is written, in MiB, rounded up.
func Text(n int64) string { return strconv.FormatInt((n+mib-1)/mib, 10) + "MiB" }

// memoryUnits are what a size can be given in.
var memoryUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KIB", 1 << 10},
	{"MIB", 1 << 20},
	{"GIB", 1 << 30},
	{"TIB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
	{"B", 1},
	{"", 1},
}

// minMemory is the least that -max-memory may be: what the program takes itself.
const minMemory = 64 << 20

// Parse returns the bytes of a size such as 256MiB; 0 for "", and -1 for "none".
func Parse(s string) (int64, error) {
	switch s {
	case "":
		return 0, nil
	case "none":
		return -1, nil
	}
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(strings.ToUpper(s), unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch n *= unit.bytes; {
		case n >= math.MaxInt64: // strconv.ErrRange, too
			return 0, fmt.Errorf("%s is more than any machine has: write none for no limit", s)
		case err != nil || !(n >= 0):
			return 0, errNoSize(s)
		case n < minMemory:
			return 0, fmt.Errorf("%s is less than the program needs itself: use 64MiB or more", s)
		}
		return int64(n), nil
	}
	return 0, errNoSize(s)
}

// Remedy says how a size is written.
const Remedy = "write 256MiB, 1GiB or none"

// errNoSize is the error of a text that is no size.
func errNoSize(s string) error { return fmt.Errorf("%q is no size: %s", s, Remedy) }

// A pack of more than largePack bytes is opened as if -max-memory were LargePackLimit, as all of
// its rules might take several times that.
const (
	largePack      = 512 << 20
	LargePackLimit = 1280 << 20
)

// IsLargePack reports whether the file of that name, if there is a name, is larger than largePack.
func IsLargePack(name string) bool {
	if name == "" {
		return false
	}
	info, err := place.Of(name).Stat(name)
	return err == nil && info.Size > largePack
}
