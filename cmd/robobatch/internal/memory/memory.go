// Package memory has the meaning of -max-memory: how a size is written, how many workers fit, and which part of
// a run gets how much. Only cmd/robobatch imports it.
//
// The table Plans has the parts that differ between commands. The parts of the limit L, in bytes:
//
//	the program             11 MiB; Go's runtime gets the rest as its own limit, see SetLimit
//	counts of a page        3L/16 or 7L/16, by the plan
//	the journal of conduct  L/16 for a page, or 6L/16, by the plan
//	counts of rules         L/2, by the plan
//	the index of the pack   its size in the file, and 4 bytes a site
//	lists of addresses      their tables, and counts of the networks that send requests of crawlers
//	URLs of sitemaps        24 bytes for each, and the names of their origins; see SitemapRoom
//	the work on rows        unpackers, batches, chunks, encoders, and the row group or dictionaries of the output
//	rows that are sorted    up to a quarter of the rest, if -sort or -partition-by is given
//	URLs that changed       up to a quarter of the rest, by the plan
//	rules                   the rest, at least 4 MiB, half of it for the previous rules if there are any:
//	                        package engine/internal/packed divides it
//
// The work on rows was measured, at its most, for each kind of output. With more workers it needs more, so there are as
// many as leave room for rules. If one worker does not, the run does not start. No part changes a byte of the output:
// the ends of batches, chunks and row groups depend only on the rows.
package memory

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
)

const mib = 1 << 20

// Program is the memory of a process that Go's runtime does not count: the program itself.
const Program = 11 * mib

// maxWorkers is the largest value of -workers: each worker has batches of 2 MiB on their way, and a
// chunk to encode.
const maxWorkers = 1024

// CheckWorkers checks the number of goroutines.
func CheckWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("%d is out of range: use 0 for one per processor, or up to %d", n, maxWorkers)
	}
	return nil
}

// A Run has all that takes memory, by the plan of its command.
type Run struct {
	Plan
	Limit    int64           // -max-memory in bytes; 0 or less means no limit
	Typed    string          // -max-memory as it was given, for messages
	Workers  int             // that are asked for; 0 is one for each processor
	Agents   int             // verdicts of a URL
	Index    int64           // bytes of the indexes of packs in memory; 0 if there is no pack yet
	Sitemaps int64           // bytes of the URLs of sitemaps; 0 means none
	Lists    int64           // bytes of the lists of addresses of crawlers, without those that only loading needs; 0 means none
	Out      *output.Options // of the output; nil means no table
	Remote   int64           // bytes for inputs and outputs that are not in the file system
	Window   int64           // the largest window of zstd in bytes that the logs are known to need; 0 is as usual
}

// share returns the part of the limit that work and rules have.
func (r Run) share() Share { return Share{Typed: r.Typed}.Less(r.Page+r.Counts, sixteenths) }

// room returns the bytes of share.
func (r Run) room() int64 { return r.Limit / sixteenths * (sixteenths - r.share().Taken) }

// window returns the window of an unpacker.
func (r Run) window() int64 { return max(window, r.Window) }

// The parts of a run. Each holds for the most that was seen with real and made-up logs.
const (
	unpacker    = 2 * mib   // text that is unpacked ahead, besides a window of zstd
	window      = 8 * mib   // of zstd, unless logs need a larger one
	batchText   = mib       // half a MiB of text, and as much of the batch before
	chunkLong   = 4 * mib   // 32,768 rows of all columns
	chunkWide   = 14 * mib  // half a million verdicts
	chunkArrow  = 24 * mib  // 65,536 rows, and the message that they become
	chunkKept   = mib / 2   // for each extra column
	stream      = 32 * mib  // messages that come and go
	encoder     = 5 * mib   // a page, packed and not, and the window of zstd
	lines       = 12 * mib  // a piece of lines, packed and not
	rowGroup    = 18 * mib  // pages, and 8 MiB of dictionaries as texts, page and packed
	groupWide   = 24 * mib  // and pages of 16 million verdicts
	groupKept   = 2 * mib   // and those of an extra column
	lineDicts   = 20 * mib  // 4 MiB of dictionaries, twice: for texts and for lines
	slowZstd    = 40 * mib  // tables of an encoder of level 10 or more
	leastSort   = 8 * mib   // rows that are sorted at once
	rowsPart    = 4         // the part of the limit that is for rows that are sorted
	dictPart    = 4         // the same for the dictionaries of an Arrow file
	perAhead    = 128 * mib // for each unpacker but the first, of the limit
	verdicts    = 64 << 10  // of a batch
	leastRows   = 256       // of a batch
	mostRows    = 8192      // of a batch, unless fewer are asked for
	rowSize     = 100       // of a batch: places, numbers, and the names of sites
	changesPart = 4         // the part of the limit that is for changed URLs
	changesMore = 11        // eighths of the memory for URLs that all counts take, see aggregate.ChangesOptions
	clientRow   = 80        // of a batch with addresses: their texts, times, answers, and networks
	networks    = 7 * mib   // that send requests of crawlers, see ranges.Census
	oldRow      = 24        // of a batch that is decided twice
	oldVerdict  = 9 + 2*20  // the same, for each agent, with the preferences of both
)

// Parts are the parts of the limit, in bytes where nothing else is said. Without a limit all are 0 but Workers.
type Parts struct {
	Workers   int   // as many as there is room for, at most those that are asked for
	Unpackers int   // goroutines that unpack ahead; 0 is one for each worker
	BatchRows int   // the most rows of a batch; 0 is as usual
	Sort      int64 // rows that are sorted; 0 is as usual
	Dicts     int64 // the dictionaries of an Arrow file; 0 means no limit
	Window    int64 // the most of a window of zstd; 0 is as usual
	Reserved  int64 // of Rules, for all but rules and their index
	Rules     int64 // the limit of each store, see engine.StoreOptions; 0 is the default, less means no limit
	Page      int64 // counts of a page; 0 is as usual
	Counts    int64 // counts of coverage, or the journal of conduct; 0 is as usual
	Changes   int64 // the URLs that changed; 0 is as usual
	Share     Share // of -max-memory that Rules is
	Note      string
}

// Divide divides the limit. Without one, all is as usual. The error says that the limit has no room
// for the run.
func (r Run) Divide() (Parts, error) {
	if r.Limit <= 0 {
		return Parts{Workers: r.Workers, Rules: r.Limit}, nil
	}
	asked := min(cmp.Or(r.Workers, runtime.GOMAXPROCS(0)), maxWorkers)
	p := r.least()
	p.Page, p.Counts = r.Limit/sixteenths*r.Page, r.Limit/sixteenths*r.Counts
	if !r.fits(p) {
		return p, r.tooSmall(p)
	}
	for p.Workers < asked {
		more := p
		more.Workers++
		more.Unpackers = min(more.Workers, 1+int(r.room()/perAhead))
		if !r.fits(more) {
			p.Note = fmt.Sprintf("-max-memory %s has room for %s", r.share().Text(r.Limit), say.Count(int64(p.Workers), "worker"))
			break
		}
		p = more
	}
	if r.sorts() {
		left := r.room() - Program - r.Index - r.reserved(&p) - engine.MinRules
		p.Sort = min(r.room()/rowsPart, leastSort+left/2)
	}
	p.Reserved, p.Rules, p.Share = r.reserved(&p), r.room(), r.share()
	if r.Old {
		p.Rules, p.Share = p.Reserved+(r.room()-p.Reserved)/2, p.Share.Less(1, 2)
	}
	return p, nil
}

// least returns the parts of a run with one worker.
func (r Run) least() Parts {
	return Parts{
		Workers: 1, Unpackers: 1, BatchRows: min(mostRows, max(leastRows, verdicts/max(1, r.Agents))),
		Dicts: r.dicts(), Window: r.window(), Changes: r.changes(),
	}
}

// SitemapRoom returns how many bytes there are for the URLs of sitemaps, at least 1: with more, the limit has no room for the
// run. It is for a run with a limit.
func (r Run) SitemapRoom() int64 {
	p := r.least()
	r.Sitemaps = 0
	return max(1, r.room()-r.taken(p))
}

// reserved returns the bytes of all but rules and their index.
func (r Run) reserved(p *Parts) int64 {
	batches, chunks, workers := int64(1), int64(1), int64(p.Workers)
	if workers > 1 {
		batches, chunks = 2*workers+2, workers+1
	}
	kept := int64(0)
	if r.Out != nil {
		kept = int64(len(r.Out.Kept))
	}
	row := rowSize + 8*int64(r.Agents) + 16*kept
	if r.Old {
		row += oldRow + oldVerdict*int64(r.Agents)
	}
	if r.Lists > 0 {
		row += clientRow
	}
	size := r.Sitemaps + int64(p.Unpackers)*(unpacker+r.window()) + batches*(batchText+int64(p.BatchRows)*row) + r.Remote + p.Changes*changesMore/8
	if r.Lists > 0 {
		size += r.Lists + networks
	}
	if r.Stream {
		size += stream
	}
	if r.Out == nil {
		return size
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
	case output.ArrowFile, output.ArrowStream:
		size += 2*chunk + chunkArrow + p.Dicts
	default:
		size += chunks*chunk + workers*lines + lineDicts
	}
	return size
}

// fits reports whether the limit has room for a run of these parts.
func (r Run) fits(p Parts) bool {
	return r.taken(p) <= r.room()
}

// taken returns the bytes that a run takes at least.
func (r Run) taken(p Parts) int64 {
	rules := int64(engine.MinRules)
	if r.Old {
		rules *= 2
	}
	return Program + r.Index + r.reserved(&p) + rules
}

// changes returns the bytes for the URLs that changed.
func (r Run) changes() int64 {
	if !r.Changes {
		return 0
	}
	return min(r.room()/changesPart*8/changesMore, aggregate.DefaultMemory)
}

// encoder returns the bytes of an encoder of Parquet.
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

// dicts returns the limit of the dictionaries of an Arrow file: a part of the room, but at least enough for the origins of
// the pack, which take twice their index.
func (r Run) dicts() int64 {
	if r.Out == nil || r.Out.Format != output.ArrowFile {
		return 0
	}
	return max(r.room()/dictPart, 9*r.Index/4)
}

// tooSmall returns the error of a limit that has no room for a run with one worker.
func (r Run) tooSmall(p Parts) error {
	need := r
	for need.Limit = r.share().Whole(r.room()); ; need.Limit += step {
		if p.Dicts, p.Changes = need.dicts(), need.changes(); need.fits(p) {
			break
		}
	}
	index := ""
	if r.Index >= mib {
		index = fmt.Sprintf(", %s of it for the index of the pack", Text(r.Index))
	}
	if r.Lists >= mib {
		index += fmt.Sprintf(", %s of it for lists of addresses", Text(r.Lists))
	}
	if r.Sitemaps >= mib {
		index += fmt.Sprintf(", %s of it for the URLs of sitemaps", Text(r.Sitemaps))
	}
	if r.Window > window {
		index += fmt.Sprintf(", %s of it for the zstd window of a log", Text(r.Window))
	}
	return fmt.Errorf("%s is less than this run needs%s: use %s or more%s", r.share().Text(r.Limit), index, Text(need.Limit), r.Says)
}

// Text returns a size as it is written, in MiB, rounded up.
func Text(n int64) string { return strconv.FormatInt((n+mib-1)/mib, 10) + "MiB" }

// memoryUnits are the units of a size.
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

// MaxStrays is the number of origins without rules a run under a limit counts one by one: half a megabyte for each
// worker.
const MaxStrays = 1 << 14

// minMemory is the lowest -max-memory: the program needs that much itself.
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
			return 0, fmt.Errorf("%s is more than any machine has: use none for no limit", s)
		case err != nil || !(n >= 0):
			return 0, errNoSize(s)
		case n < minMemory:
			return 0, fmt.Errorf("%s is less than robobatch itself needs: use 64MiB or more", s)
		}
		return int64(n), nil
	}
	return 0, errNoSize(s)
}

// Remedy says how a size is written.
const Remedy = "write 256MiB, 1GiB or none"

// errNoSize is the error of a text that is not a size.
func errNoSize(s string) error { return fmt.Errorf("%q is not a size: %s", s, Remedy) }

// A pack of more than largePack bytes is opened as if -max-memory were LargePackLimit, as all of
// its rules might take several times that.
const (
	largePack      = 512 << 20
	LargePackLimit = 1280 << 20
)

// OfPack returns the limit of the store of a pack, or of files if the name is "": the one that is asked for,
// or, for a large pack without one, LargePackLimit.
func OfPack(name string, asked int64) int64 {
	if name == "" || asked != 0 {
		return asked
	}
	if info, err := place.Of(name).Stat(name); err != nil || info.Size <= largePack {
		return 0
	}
	return LargePackLimit
}

// SetLimit sets the memory limit of Go's runtime to the limit of the run, so that dropped rules are collected before the
// process grows beyond it. stores are the limits of the rules, see [OfPack]. If the run has no limit and no counts, the
// limit is the largest of these, for each store.
func (r Run) SetLimit(stores ...int64) {
	limit := r.Limit
	if limit == 0 && r.Page+r.Counts == 0 {
		limit = slices.Max(stores) * int64(len(stores))
		if r.Changes && limit > 0 {
			limit += aggregate.DefaultMemory
		}
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit - Program)
	}
}

// step divides the limits that errors name: such numbers are short to type.
const step = 16 * mib

// sixteenths are the unit of shares, so that half of three quarters is exact.
const sixteenths = 16

// A Share is the part of -max-memory that something has. Errors name the whole by it, as it was typed
// and as it should be. The zero value is all of it, typed in an unknown way.
type Share struct {
	Typed string // -max-memory as it was given, for messages
	Taken int64  // sixteenths of it that others have
}

// Less returns the share without a part of it, as 1 of 4.
func (s Share) Less(part, of int64) Share {
	return Share{s.Typed, s.Taken + (sixteenths-s.Taken)*part/of}
}

// Whole returns a -max-memory whose share is n bytes at least: the least multiple of step.
func (s Share) Whole(n int64) int64 {
	parts := sixteenths - s.Taken
	return ((n+parts-1)/parts*sixteenths + step - 1) / step * step
}

// Text returns -max-memory as it was typed; n bytes if that is not known.
func (s Share) Text(n int64) string { return cmp.Or(s.Typed, Text(n)) }
