// Package collector has the first garbage collection wait for a heap of 32 MiB instead of 4; the others run
// as ever. Many commands are done before, and need none: a run on ten URLs takes a quarter less processor
// time. GOGC and -max-memory go before.
//
// It imports next to nothing, so it is initialized before the packages whose tables fill the first 4 MiB.
// Only package main of the command imports it.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
)

// usual is the growth of the heap in percent after which Go collects.
const usual = 100

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(8 * usual)
		runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
	}
}
