// Package memory implements -max-memory: the syntax of sizes, the number of workers that fit, and the division of the
// limit. Only cmd/robobatch imports it.
//
// The table Plans says which parts each command needs. The parts of the limit L, in bytes:
//
//	the program             11 MiB; Go's runtime gets the rest as its own limit, see SetLimit
//	counts of a page        3L/16 or 7L/16, by the plan
//	the journal of conduct  L/16 for a page, or 6L/16, by the plan
//	counts of rules         L/2, by the plan
//	the index of the pack   its size in the file, and 4 bytes per site
//	lists of addresses      their tables, and counts of the networks that send requests of crawlers
//	URLs of sitemaps        24 bytes per URL, and the names of their origins; see SitemapRoom
//	the work on rows        unpackers, batches, chunks, encoders, and the row group or dictionaries of the output
//	rows that are sorted    up to a quarter of the rest, with -sort or -partition-by
//	URLs that changed       up to a quarter of the rest, by the plan
//	rules                   the rest, at least 4 MiB; half of it for the previous rules, if any:
//	                        package engine/internal/packed divides it
//
// The maximum memory for the work on rows was measured for each kind of output. It grows with the number of workers,
// which is therefore limited so that there is memory for rules. If there is not enough for one worker, the run does not
// start. The division never changes the output: the ends of batches, chunks and row groups depend only on the rows.
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
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

const mib = 1 << 20

// Program is the memory of a process that Go's runtime does not count, such as the program itself.
const Program = 11 * mib

// maxWorkers is the maximum value of -workers: each worker has batches of 2 MiB in progress, and a chunk to encode.
const maxWorkers = 1024

// CheckWorkers checks the number of goroutines.
func CheckWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("%d is out of range: use 0 for one per processor, or up to %d", n, maxWorkers)
	}
	return nil
}

// A Run describes everything in a run that takes memory. Fields for parts that are not in the command's plan are
// ignored.
type Run struct {
	Plan
	Limit    int64           // -max-memory in bytes; 0 or less means no limit
	Typed    string          // -max-memory as given, for messages
	Workers  int             // requested number; 0 is one per processor
	Agents   int             // verdicts per URL
	Index    int64           // size in bytes of the pack indexes in memory; 0 if the pack is not compiled yet
	Sitemaps int64           // bytes of the URLs of sitemaps; 0 means none
	Lists    int64           // size in bytes of the address lists after loading; 0 means none
	Out      *output.Options // of the output; nil means no table
	Remote   int64           // bytes for inputs and outputs in object storage
	Window   int64           // largest known zstd window of the logs in bytes; 0 is the default
}

// share returns the part of the limit for rows and rules: the rest after the counts.
func (r Run) share() Share { return Share{Typed: r.Typed}.Less(r.Page+r.Counts, sixteenths) }

// room returns share in bytes.
func (r Run) room() int64 { return r.Limit / sixteenths * (sixteenths - r.share().Taken) }

// window returns the window size of an unpacker.
func (r Run) window() int64 { return max(window, r.Window) }

// Memory of the parts of a run: maximum values measured with real and artificial logs.
const (
	unpacker    = 2 * mib   // text unpacked ahead, in addition to a zstd window
	window      = 8 * mib   // zstd window, unless logs need a larger one
	batchText   = mib       // 512 KiB of text, and as much for the previous batch
	chunkLong   = 4 * mib   // 32,768 rows of all columns
	chunkWide   = 14 * mib  // half a million verdicts
	chunkArrow  = 24 * mib  // 65,536 rows, and the message that they become
	chunkKept   = mib / 2   // per extra column
	stream      = 32 * mib  // messages in progress
	encoder     = 5 * mib   // a page, packed and unpacked, and the zstd window
	lines       = 12 * mib  // a group of lines, packed and unpacked
	rowGroup    = 18 * mib  // pages, and dictionaries of 8 MiB, each as text, as a page and as a compressed page
	groupWide   = 24 * mib  // in addition: pages of 16 million verdicts
	groupKept   = 2 * mib   // in addition: pages of an extra column
	lineDicts   = 20 * mib  // 4 MiB of dictionaries, as text and as lines
	slowZstd    = 40 * mib  // tables of an encoder at level 10 or above
	leastSort   = 8 * mib   // rows sorted at once
	rowsPart    = 4         // fraction of the limit for sorted rows: 1/rowsPart
	dictPart    = 4         // the same for the dictionaries of an Arrow file
	perAhead    = 128 * mib // of the limit, per additional unpacker
	verdicts    = 64 << 10  // per batch
	leastRows   = 256       // per batch
	mostRows    = 8192      // per batch, unless fewer are requested
	rowSize     = 100       // per row of a batch: positions, numbers, and names of sites
	changesPart = 4         // fraction of the limit for changed URLs: 1/changesPart
	changesMore = 11        // memory of all counts, in eighths of the memory for URLs, see aggregate.ChangesOptions
	clientRow   = 80        // per row with addresses: texts, times, status codes, and networks
	networks    = 7 * mib   // networks that send crawler requests, see ranges.Census
	oldRow      = 24        // per row of a batch that is evaluated twice
	oldVerdict  = 9 + 2*20  // the same per agent, with both sets of preferences
)

// Parts are the parts of the limit, in bytes unless noted otherwise. Without a limit, all are 0 except Workers.
type Parts struct {
	Workers   int   // as many as fit, at most the requested number
	Unpackers int   // goroutines that unpack ahead; 0 is one per worker
	BatchRows int   // maximum rows of a batch; 0 is the default
	Sort      int64 // rows to sort; 0 is the default
	Dicts     int64 // dictionaries of an Arrow file; 0 means no limit
	Window    int64 // maximum zstd window; 0 is the default
	Reserved  int64 // part of Rules that compiled rules and their index cannot use
	Rules     int64 // limit of each store, see engine.StoreOptions; 0 is the default, negative means no limit
	Page      int64 // counts of a page; 0 is the default
	Counts    int64 // counts of coverage, or the journal of conduct; 0 is the default
	Changes   int64 // changed URLs; 0 is the default
	Share     Share // share of -max-memory for Rules
	Note      string
}

// Divide divides the limit. Without a limit, it returns defaults. The error says that the limit is too small for one
// worker, and which limit is enough.
func (r Run) Divide() (Parts, error) {
	if r.Limit <= 0 {
		return Parts{Workers: r.Workers, Rules: r.Limit}, nil
	}
	asked := min(cmp.Or(r.Workers, runtime.GOMAXPROCS(0)), maxWorkers)
	p := r.leastParts()
	p.Page, p.Counts = r.Limit/sixteenths*r.Page, r.Limit/sixteenths*r.Counts
	if !r.fits(p) {
		return p, r.errTooSmall(p)
	}
	for p.Workers < asked {
		more := p
		more.Workers++
		more.Unpackers = min(more.Workers, 1+int(r.room()/perAhead))
		if !r.fits(more) {
			p.Note = fmt.Sprintf("-max-memory %s has room for %s", r.share().Text(r.Limit), msg.Count(int64(p.Workers), "worker"))
			break
		}
		p = more
	}
	if r.sorts() {
		left := r.room() - Program - r.Index - r.reservedBytes(&p) - engine.MinRules
		p.Sort = min(r.room()/rowsPart, leastSort+left/2)
	}
	p.Reserved, p.Rules, p.Share = r.reservedBytes(&p), r.room(), r.share()
	if r.Old {
		p.Rules, p.Share = p.Reserved+(r.room()-p.Reserved)/2, p.Share.Less(1, 2)
	}
	return p, nil
}

// leastParts returns the parts for a run with one worker, without Page and Counts.
func (r Run) leastParts() Parts {
	return Parts{
		Workers: 1, Unpackers: 1, BatchRows: min(mostRows, max(leastRows, verdicts/max(1, r.Agents))),
		Dicts: r.dictBytes(), Window: r.window(), Changes: r.changesBytes(),
	}
}

// SitemapRoom returns the maximum number of bytes for the URLs of sitemaps, at least 1. It is for a run with a limit,
// and ignores r.Sitemaps.
func (r Run) SitemapRoom() int64 {
	p := r.leastParts()
	r.Sitemaps = 0
	return max(1, r.room()-r.leastBytes(p))
}

// reservedBytes returns the bytes for everything except the program, rules and their index.
func (r Run) reservedBytes(p *Parts) int64 {
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

// fits reports whether the parts fit into the limit.
func (r Run) fits(p Parts) bool {
	return r.leastBytes(p) <= r.room()
}

// leastBytes returns the number of bytes that a run with these parts takes at least, whatever its limit: those of the
// program, the index, reservedBytes, and the minimum for rules.
func (r Run) leastBytes(p Parts) int64 {
	rules := int64(engine.MinRules)
	if r.Old {
		rules *= 2
	}
	return Program + r.Index + r.reservedBytes(&p) + rules
}

// changesBytes returns the bytes for changed URLs; 0 if the plan has none.
func (r Run) changesBytes() int64 {
	if !r.Changes {
		return 0
	}
	return min(r.room()/changesPart*8/changesMore, aggregate.DefaultMemory)
}

// encoder returns the bytes of a Parquet encoder.
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

// dictBytes returns the limit in bytes for the dictionaries of an Arrow file, or 0 for other outputs: a fraction of
// the memory, but at least twice the pack's index, so that the origins of the pack fit.
func (r Run) dictBytes() int64 {
	if r.Out == nil || r.Out.Format != output.ArrowFile {
		return 0
	}
	return max(r.room()/dictPart, 9*r.Index/4)
}

// errTooSmall returns the error for a limit that is too small for the parts p of a run with one worker. It names the
// smallest sufficient limit, as a multiple of step.
func (r Run) errTooSmall(p Parts) error {
	need := r
	for need.Limit = r.share().Whole(r.room()); ; need.Limit += step {
		if p.Dicts, p.Changes = need.dictBytes(), need.changesBytes(); need.fits(p) {
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

// Text formats a size in MiB, rounded up.
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

// MaxStrays is the number of origins without rules that a run with a limit counts individually: half a megabyte per
// worker.
const MaxStrays = 1 << 14

// minMemory is the minimum of -max-memory: the memory of the program without any work.
const minMemory = 64 << 20

// Parse parses a size in bytes such as 256MiB, at least minMemory; it returns 0 for "", and -1 for "none". Units may
// be in any case.
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
		case n >= math.MaxInt64: // includes strconv.ErrRange
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

// Remedy describes the syntax of a size.
const Remedy = "write 256MiB, 1GiB or none"

// errNoSize is the error for an invalid size.
func errNoSize(s string) error { return fmt.Errorf("%q is not a size: %s", s, Remedy) }

// A pack larger than largePack is opened with the limit LargePackLimit for its rules, because all of them together
// could take several times the size of the pack.
const (
	largePack      = 512 << 20
	LargePackLimit = 1280 << 20
)

// LimitOfPack returns the limit for the store of a pack, or of files if the name is "". It is the requested limit, or
// LargePackLimit for a large pack if asked is 0.
func LimitOfPack(name string, asked int64) int64 {
	if name == "" || asked != 0 {
		return asked
	}
	if info, err := storage.Of(name).Stat(name); err != nil || info.Size <= largePack {
		return 0
	}
	return LargePackLimit
}

// SetLimit sets the memory limit of Go's runtime to the limit of the run, so that dropped rules are collected before
// the process exceeds it. stores are the limits of the rules, see [LimitOfPack]; there may be none only if the run
// has a limit. If the run has neither a limit nor counts, the runtime's limit is the largest of stores, multiplied by
// their number. Without any limit, nothing is set.
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

// step is the granularity of limits suggested by errors, so that they are short to type.
const step = 16 * mib

// sixteenths is the denominator of shares, so that half of three quarters is exact.
const sixteenths = 16

// A Share is a fraction of -max-memory. With it, an error about one part of the memory can name the typed limit and a
// sufficient one. The zero value is the whole limit; how it was typed is unknown.
type Share struct {
	Typed string // -max-memory as given, for messages
	Taken int64  // sixteenths that other parts take
}

// Less returns the share reduced by a fraction, such as 1 of 4.
func (s Share) Less(part, of int64) Share {
	return Share{s.Typed, s.Taken + (sixteenths-s.Taken)*part/of}
}

// Whole returns the smallest -max-memory whose share is at least n bytes, as a multiple of step.
func (s Share) Whole(n int64) int64 {
	parts := sixteenths - s.Taken
	return ((n+parts-1)/parts*sixteenths + step - 1) / step * step
}

// Text returns -max-memory as typed; n bytes if unknown.
func (s Share) Text(n int64) string { return cmp.Or(s.Typed, Text(n)) }
