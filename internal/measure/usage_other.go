//go:build !unix

package measure

import (
	"os"
	"time"
)

// Used returns zeros: the use by the process is not known here.
func Used() (cpu time.Duration, peak int64) { return 0, 0 }

// PeakOf returns 0: the memory is not known here.
func PeakOf(*os.ProcessState) int64 { return 0 }
