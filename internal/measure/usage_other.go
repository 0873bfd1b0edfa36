//go:build !unix

package measure

import (
	"os"
	"time"
)

// Used returns zeros, because resource usage is unknown on this system.
func Used() (cpu time.Duration, peak int64) { return 0, 0 }

// PeakOf returns 0, because memory is unknown on this system.
func PeakOf(*os.ProcessState) int64 { return 0 }
