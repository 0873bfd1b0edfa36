// Package measure measures the time and memory of complete jobs, in this process or in another one, and prints them in
// the format of Go's benchmarks, which benchstat reads.
//
// Machines are shared, so cases that are compared run in turn: [Rounds] runs each [Case] once per round and prints a
// line for it. The lines with the same name are its samples. Compare CPU times first, because other processes affect
// them least. A [Job] has the cases of a run of the command: parse, build, read, run.
//
// Commands and bench import it.
package measure

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// A Work is the work of one run of a case.
type Work struct {
	Units int64 // in the unit of Case.Unit
	Bytes int64 // of input; 0 if unknown
}

// A Metric is a result for which Sample has no field.
type Metric struct {
	Value float64
	Unit  string
}

// A Sample is the cost of one run of a case. Fields of 0 are not printed.
type Sample struct {
	Work
	Wall   time.Duration
	CPU    time.Duration // of all threads, user and system
	Allocs int64         // number of allocations
	Alloc  int64         // bytes allocated
	Peak   int64         // peak memory of the process during the run, in bytes
	Extra  []Metric
}

// A Case is a job to measure.
type Case struct {
	Name string // without "Benchmark", such as "Run/workers=2"
	Unit string // of work, such as "url"
	Run  func() (Sample, error)
}

// Rounds runs all cases in turn, in each round, and writes a line for each run to w. It stops at the first error of a
// case or of w, or when ctx ends.
func Rounds(ctx context.Context, w io.Writer, rounds int, cases []Case) error {
	for range rounds {
		for _, c := range cases {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := c.Run()
			if err != nil {
				return fmt.Errorf("measure %s: %w", c.Name, err)
			}
			if _, err := fmt.Fprintln(w, s.line(c.Name, c.Unit)); err != nil {
				return err
			}
		}
	}
	return nil
}

// line returns the sample as a line of a benchmark, without its line end. Metrics of 0 are omitted. unit is
// that of Units, in the singular.
func (s Sample) line(name, unit string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "Benchmark%s\t1\t%d ns/op", name, s.Wall.Nanoseconds())
	var all []Metric
	add := func(value float64, name string) {
		if value > 0 {
			all = append(all, Metric{value, name})
		}
	}
	wall, cpu := s.Wall.Seconds(), s.CPU.Seconds()
	if wall > 0 {
		add(float64(s.Bytes)/1e6/wall, "MB/s")
		add(float64(s.Units)/wall, unit+"s/s")
	}
	if cpu > 0 && s.Units > 0 {
		add(cpu*1e9/float64(s.Units), "cpu-ns/"+unit)
		add(float64(s.Bytes)/1e6/cpu, "MB/cpu-s")
	}
	add(float64(s.Peak), "peak-B")
	add(float64(s.Alloc), "B/op")
	add(float64(s.Allocs), "allocs/op")
	for _, m := range append(all, s.Extra...) {
		fmt.Fprintf(&sb, "\t%.6g %s", m.Value, m.Unit)
	}
	return sb.String()
}

// Here returns a function that calls run in this process and measures it. The function collects garbage first, and
// measures everything that the process does in the meantime. Peak memory includes that from before the run, and is
// known only on Linux.
func Here(run func() (Work, error)) func() (Sample, error) {
	return func() (s Sample, err error) {
		runtime.GC()
		debug.FreeOSMemory()
		peakKnown := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cpu, wall := CPU(), time.Now()
		s.Work, err = run()
		s.Wall, s.CPU = time.Since(wall), CPU()-cpu
		runtime.ReadMemStats(&after)
		s.Allocs, s.Alloc = int64(after.Mallocs-before.Mallocs), int64(after.TotalAlloc-before.TotalAlloc)
		if peakKnown {
			s.Peak = peakOfImage()
		}
		return s, err
	}
}

// CPU returns the processor time of [Used].
func CPU() time.Duration {
	cpu, _ := Used()
	return cpu
}

// Header writes the lines "key: value" that precede benchmarks and, after #, the version of Go, the date and the load
// of the machine. pkg is the name of the package. Benchstat compares only results with the same keys and values, and
// ignores lines with #.
func Header(w io.Writer, pkg string) error {
	load := "unknown"
	text, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(text)); len(fields) >= 3 {
		load = strings.Join(fields[:3], " ")
	}
	_, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: %s\ncpu: %s\n# go: %s\n# date: %s\n# load: %s\n",
		runtime.GOOS, runtime.GOARCH, pkg, Machine(), runtime.Version(), time.Now().UTC().Format(time.DateOnly), load)
	return err
}

// Exec runs a command and measures its process. It replaces cmd.Stderr. Memory is known only on Unix. If the command
// fails, the error contains its standard error.
func Exec(cmd *exec.Cmd) (Sample, error) {
	var messages strings.Builder
	cmd.Stderr = &messages
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return Sample{}, fmt.Errorf("%s: %w: %s", cmd, err, messages.String())
	}
	p := cmd.ProcessState
	return Sample{Wall: time.Since(started), CPU: p.SystemTime() + p.UserTime(), Peak: PeakOf(p)}, nil
}

// A ladder compares the steps from the logs to the output by their minimum CPU times. Each step includes the work of
// the previous one.
type ladder struct {
	steps []*step
	urls  int64
}

// A step is a case that takes logs.
type step struct {
	name string
	cpu  time.Duration // minimum of all runs; 0 before the first
}

// watch adds a case as a step, and replaces c.Run by a function that also records the minimum CPU time of successful
// runs. It ignores cases whose unit is neither "url" nor "line", because they read no logs.
func (l *ladder) watch(c *Case) {
	if c.Unit != "url" && c.Unit != "line" {
		return
	}
	s, run := &step{name: c.Name}, c.Run
	l.steps = append(l.steps, s)
	c.Run = func() (Sample, error) {
		sample, err := run()
		if err == nil && (s.cpu == 0 || sample.CPU < s.cpu) {
			s.cpu = sample.CPU
		}
		if c.Unit == "url" {
			l.urls = sample.Units
		}
		return sample, err
	}
}

// write writes the CPU time of each step for a URL, also as a multiple of that of the first. It writes nothing if CPU
// times or the number of URLs are unknown.
func (l *ladder) write(w io.Writer) error {
	if len(l.steps) == 0 || l.steps[0].cpu == 0 || l.urls == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString("# least CPU time for a URL, and as a multiple of the first:\n")
	for _, s := range l.steps {
		fmt.Fprintf(&text, "#   %-24s %8.1f ns  %6.2f\n", s.name, float64(s.cpu.Nanoseconds())/float64(l.urls), s.cpu.Seconds()/l.steps[0].cpu.Seconds())
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// peakOfImage returns the peak memory of the process, in bytes, since it began to run this program; 0 if unknown. The
// resource usage of a process also counts memory from before the program was loaded, which is that of its parent.
func peakOfImage() int64 {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(procField("/proc/self/status", "VmHWM"), " kB"), 10, 64)
	return kib * 1024
}

// Machine returns the name of the processor and the number of its threads, such as "AMD EPYC, 2 CPUs".
func Machine() string {
	name := cmp.Or(procField("/proc/cpuinfo", "model name"), runtime.GOARCH)
	return fmt.Sprintf("%s, %d CPUs", name, runtime.NumCPU())
}

// procField returns the value, without space around it, of the first line "key: value" of a file; "" if there is none.
func procField(name, key string) string {
	text, _ := os.ReadFile(name) // empty if there is no such file
	for line := range bytes.Lines(text) {
		k, v, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
