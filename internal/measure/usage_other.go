//go:build !unix

package measure

import (
	"os"
	"time"
)

// CPU returns 0: the processor time is not known here.
func CPU() time.Duration { return 0 }

// peakOf returns 0: the memory is not known here.
func peakOf(*os.ProcessState) int64 { return 0 }
