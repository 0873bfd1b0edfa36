// Package progress shows how far a run is: a bar on a terminal, or a line now and then. It hides
// how a bar is drawn and kept within the width of the terminal. Only cmd/robobatch imports it.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/cli"
)

// A Mode is how progress is shown.
type Mode uint8

// The modes, in the order of [Names].
const (
	auto  Mode = iota // not a mode yet: bar or lines
	bars              // a line that redraws itself
	lines             // a line now and then
	Off
)

// Names are the names of modes.
var Names = []string{"auto", "bar", "plain", "off"}

// barWidth is that of the bar itself, so that the line fits into 80 columns; a fitWriter cuts it on
// narrower terminals.
const barWidth = 20

// How often progress is shown.
const (
	barInterval   = 200 * time.Millisecond
	plainInterval = 5 * time.Second
)

// Parse returns the mode of that name. That of auto depends on whether stderr is a terminal that
// can redraw a line.
func Parse(name string, stderr *os.File) (Mode, error) {
	return parse(name, IsTerminal(stderr))
}

// parse is Parse for a terminal, or something else.
func parse(name string, terminal bool) (Mode, error) {
	i, err := cli.Choose("way", name, Names)
	if err != nil {
		return Off, err
	}
	mode := Mode(i)
	if mode == auto {
		mode = lines
		if terminal && os.Getenv("TERM") != "dumb" {
			mode = bars
		}
	}
	return mode, nil
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// A Sample is how far a part of the run is.
type Sample struct {
	Done, Total int64 // files or bytes; Total is negative if unknown
	URLs        int64
	Bytes       bool // Done and Total are bytes
}

// A screen shows samples of one part of the run.
type screen interface {
	show(s Sample)
	end() // leaves the cursor at the start of a line
}

// Watch shows the progress of a part of the run, called what, on stderr, until the function that it
// returns is called. read is called from another goroutine.
func Watch(mode Mode, stderr *os.File, what string, read func() Sample) (stop func()) {
	if mode == Off {
		return func() {}
	}
	var d screen = &plainLines{stderr, what, time.Now()}
	tick := time.NewTicker(plainInterval)
	if mode == bars {
		d = newBar(&fitWriter{w: stderr, width: func() int { return columnsOf(stderr) }}, what, read())
		tick.Reset(barInterval)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer d.end()
		for {
			select {
			case <-tick.C:
				d.show(read())
			case <-quit:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(quit)
		<-done
	}
}

// plainLines is a screen of lines.
type plainLines struct {
	w       io.Writer
	what    string
	started time.Time
}

func (p *plainLines) show(s Sample) {
	fmt.Fprintln(p.w, plainLine(p.what, s, time.Since(p.started))) //nolint:errcheck // progress may get lost
}

func (p *plainLines) end() {}

// plainLine returns the line for a Sample after some time, such as
//
//	URLs: 1.2 of 4.8 GB (25 %), 12,345,678 URLs, 2,469,135/s, 15s left
func plainLine(what string, s Sample, elapsed time.Duration) string {
	amount := say.Number
	if s.Bytes {
		amount = say.Bytes
	}
	var sb strings.Builder
	sb.WriteString(what + ": " + amount(s.Done))
	if s.Total > 0 {
		fmt.Fprintf(&sb, " of %s (%d %%)", amount(s.Total), 100*s.Done/s.Total)
	}
	if s.URLs > 0 {
		fmt.Fprintf(&sb, ", %s, %s/s", say.Count(s.URLs, "URL"), say.Number(int64(float64(s.URLs)/elapsed.Seconds())))
	}
	if 0 < s.Done && s.Done < s.Total { // once all is read, what is left is not known
		left := time.Duration(float64(elapsed) * float64(s.Total-s.Done) / float64(s.Done))
		fmt.Fprintf(&sb, ", %v left", left.Round(time.Second))
	}
	return sb.String()
}

// A bar is a screen of a line that redraws itself.
type bar struct {
	*progressbar.ProgressBar
	what    string
	started time.Time
}

func newBar(w io.Writer, what string, first Sample) *bar {
	total := first.Total
	if total <= 0 {
		total = -1
	}
	b := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(first.Bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // its goroutine would draw while end clears, and outlive the bar
	)
	b.StartWithoutRender() // or its rate counts from the first Sample
	return &bar{b, what, time.Now()}
}

func (b *bar) show(s Sample) {
	if s.Total < 0 || s.Done < s.Total { // it would end the bar
		b.Set64(s.Done) //nolint:errcheck // progress may get lost
	}
	if s.URLs > 0 {
		rate := float64(s.URLs) / time.Since(b.started).Seconds() / 1e6
		b.Describe(fmt.Sprintf("%.1f M %s, %.2f M/s", float64(s.URLs)/1e6, b.what, rate))
	}
}

func (b *bar) end() { b.Clear() } //nolint:errcheck // progress may get lost

// A fitWriter cuts what is written to a terminal at its right edge, so that a line that redraws
// itself never wraps, however narrow the terminal is or becomes. Runes count as one column each;
// control characters but CR and LF do not come.
type fitWriter struct {
	w      io.Writer
	width  func() int // of the terminal in columns; 0 or less is unknown, and nothing is cut
	column int        // of the cursor
}

// Write writes what fits. The last column stays free, as some terminals wrap once it is filled.
func (f *fitWriter) Write(p []byte) (int, error) {
	kept := make([]byte, 0, len(p))
	width := f.width()
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		switch {
		case r == '\r' || r == '\n':
			f.column = 0
			kept = append(kept, p[i])
		case width <= 0 || f.column < width-1:
			f.column++
			kept = append(kept, p[i:i+size]...)
		}
		i += size
	}
	if _, err := f.w.Write(kept); err != nil {
		return 0, err
	}
	return len(p), nil
}

// columnsOf returns the width of a terminal, 0 or less for anything else.
func columnsOf(f *os.File) int {
	width, _, _ := term.GetSize(int(f.Fd()))
	return width
}
