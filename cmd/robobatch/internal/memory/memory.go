// Package memory says what -max-memory means: how a size is written, how many workers fit, and who
// gets which part. Only cmd/robobatch imports it.
//
// The parts of the limit L, in bytes:
//
//	rows that are sorted    L/4, if -sort or -partition-by is given; all below is of M, what is left
//	the program             16 MiB of M; Go's runtime gets the rest as its own limit (package load)
//	batches                 M/8, for the rules that rows of all batches refer to
//	readers of rules        M/8, for the rules that all workers used last
//	the rest of a run       96 MiB of M: batches, unpacking, columns
//	the index of the pack   of M: its size in the file, and 4 bytes a site
//	the cache of rules      half of what is then left of M, at least 8 MiB; the other half is for
//	                        rules that were dropped and not collected yet
//
// The two eighths are the most that rules in use may take outside the cache. They are no part of
// the sum, as most of these rules are in the cache, too. Package engine/internal/packed has all
// parts of M but the program's.
package memory

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/output"
)

// What a run under -max-memory takes besides rules.
const (
	Program     = 16 << 20 // of the process, and unknown to Go's runtime: the program itself
	firstWorker = 64 << 20 // with one worker
	nextWorker  = 24 << 20 // for each other one: batches, what is unpacked ahead, a chunk that is encoded
)

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

// FitWorkers returns the workers that -max-memory has room for, at most those that are asked for,
// and a note if they are fewer.
func FitWorkers(asked int, maxMemory string) (workers int, note string) {
	limit, err := Parse(maxMemory)
	if err != nil || limit <= 0 {
		return asked, ""
	}
	most := 1 + int(min(max(0, limit-firstWorker)/nextWorker, maxWorkers))
	if most >= cmp.Or(asked, runtime.GOMAXPROCS(0)) {
		return asked, ""
	}
	return most, fmt.Sprintf("-max-memory %s has room for %s", maxMemory, say.Count(int64(most), "worker"))
}

// sortPart is the part of -max-memory that rows which are sorted take.
const sortPart = 4

// Divide divides the memory that a run may take between rules and rows, if rows are sorted.
func Divide(limit int64, opt *output.Options) (rules int64) {
	if limit <= 0 || opt.Sort == output.SortNone && len(opt.Partition) == 0 {
		return limit
	}
	opt.SortMemory = limit / sortPart
	return limit - opt.SortMemory
}

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
	info, err := os.Stat(name)
	return name != "" && err == nil && info.Size() > largePack
}
