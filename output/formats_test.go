package output

import (
	"testing"

	"github.com/robobatch/robobatch/output/internal/container"
)

// testedFormats are the formats that long tests compare: all of them, or one of each kind under
// -short, as the race detector takes ten times as long.
func testedFormats() []Format {
	if testing.Short() {
		return []Format{Parquet, ArrowStream, CSV, JSONLZstd}
	}
	all := make([]Format, container.NumFormats)
	for f := range all {
		all[f] = Format(f)
	}
	return all
}

// shorter returns n, or a fifth of it under -short.
func shorter(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}
