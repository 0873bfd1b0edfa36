//go:build !unix

package main

import "time"

// usedResources returns zeros: unknown.
func usedResources() (cpu time.Duration, peak int64) { return 0, 0 }
