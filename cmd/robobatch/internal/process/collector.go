package process

import (
	"os"
	"runtime"
	"runtime/debug"
)

// defaultGOGC is Go's default GOGC, in percent of heap growth.
const defaultGOGC = 100

// init delays the first garbage collection until the heap reaches 32 MiB (Go's default is 4 MiB). Short commands then
// finish without one: a run on ten URLs uses a quarter less CPU time. GOGC and -max-memory take precedence.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(8 * defaultGOGC)
		runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, defaultGOGC)
	}
}
