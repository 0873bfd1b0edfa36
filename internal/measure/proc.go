package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// peak returns the most bytes of memory that the process held since then; 0 if that is not known.
func peak() int64 {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(procField("/proc/self/status", "VmHWM"), " kB"), 10, 64)
	return kib * 1024
}

// Machine returns the name of the processor and the number of its threads, as in "AMD EPYC, 2
// CPUs".
func Machine() string {
	name := cmp.Or(procField("/proc/cpuinfo", "model name"), runtime.GOARCH)
	return fmt.Sprintf("%s, %d CPUs", name, runtime.NumCPU())
}

// load returns the system's load averages, or "unknown".
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}

// procField returns the value of the first line "key: value" of a file, or "".
func procField(name, key string) string {
	text, _ := os.ReadFile(name) // none if there is no such file
	for line := range bytes.Lines(text) {
		k, v, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
