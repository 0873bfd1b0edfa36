//go:build !unix

package summary

import "time"

// UsedResources returns zeros: unknown.
func UsedResources() (cpu time.Duration, peak int64) { return 0, 0 }
