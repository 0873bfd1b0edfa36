package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progressMode is how progress is shown.
type progressMode uint8

const (
	progressOff   progressMode = iota
	progressBar                // a line that redraws itself
	progressPlain              // a line now and then
)

// barWidth is that of the bar itself, so that the line fits into 80 columns; a fitWriter cuts it on narrower terminals.
const barWidth = 20

// How often progress is shown.
const (
	barInterval   = 200 * time.Millisecond
	plainInterval = 5 * time.Second
)

// parseProgress returns the mode of that name; "auto" depends on whether stderr is a terminal that can redraw a line.
func parseProgress(name string, stderr *os.File) (progressMode, error) {
	return progressOn(name, isTerminal(stderr))
}

// progressOn is parseProgress for a terminal, or something else.
func progressOn(name string, terminal bool) (progressMode, error) {
	switch name {
	case "off":
		return progressOff, nil
	case "bar":
		return progressBar, nil
	case "plain":
		return progressPlain, nil
	case "auto":
		if terminal && !isDumb() {
			return progressBar, nil
		}
		return progressPlain, nil
	}
	return 0, withHint(fmt.Errorf("unknown way %q: use one of auto, bar, plain, off", name), name, enumerated["progress"])
}

// A sample is how far a part of the run is.
type sample struct {
	done, total int64 // files or bytes; total is negative if unknown
	urls        int64
	bytes       bool // done and total are bytes
}

// A screen shows samples of one part of the run.
type screen interface {
	show(s sample)
	end() // leaves the cursor at the start of a line
}

// watch shows the progress of a part of the run, called what, until the function that it returns is called.
func (v *voice) watch(what string, read func() sample) (stop func()) {
	var d screen
	var tick *time.Ticker
	switch v.progress {
	case progressBar:
		d, tick = newBar(&fitWriter{w: v.std.err, width: func() int { return columnsOf(v.std.err) }}, what, read()), time.NewTicker(barInterval)
	case progressPlain:
		d, tick = &plainLines{v.std.err, what, time.Now()}, time.NewTicker(plainInterval)
	case progressOff:
		return func() {}
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

func (p *plainLines) show(s sample) {
	fmt.Fprintln(p.w, plainLine(p.what, s, time.Since(p.started))) //nolint:errcheck // progress may get lost
}

func (p *plainLines) end() {}

// plainLine returns the line for a sample after some time, such as
//
//	URLs: 1.2 of 4.8 GB (25 %), 12,345,678 URLs, 2,469,135/s, 15s left
func plainLine(what string, s sample, elapsed time.Duration) string {
	amount := group
	if s.bytes {
		amount = bytesText
	}
	var sb strings.Builder
	sb.WriteString(what + ": " + amount(s.done))
	if s.total > 0 {
		fmt.Fprintf(&sb, " of %s (%d %%)", amount(s.total), 100*s.done/s.total)
	}
	if s.urls > 0 {
		fmt.Fprintf(&sb, ", %s, %s/s", plural(s.urls, "URL"), group(int64(float64(s.urls)/elapsed.Seconds())))
	}
	if 0 < s.done && s.done < s.total { // once all is read, what is left is not known
		left := time.Duration(float64(elapsed) * float64(s.total-s.done) / float64(s.done))
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

func newBar(w io.Writer, what string, first sample) *bar {
	total := first.total
	if total <= 0 {
		total = -1
	}
	b := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(first.bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // its goroutine would draw while end clears, and outlive the bar
	)
	b.StartWithoutRender() // or its rate counts from the first sample
	return &bar{b, what, time.Now()}
}

func (b *bar) show(s sample) {
	if s.total < 0 || s.done < s.total { // it would end the bar
		b.Set64(s.done) //nolint:errcheck // progress may get lost
	}
	if s.urls > 0 {
		rate := float64(s.urls) / time.Since(b.started).Seconds() / 1e6
		b.Describe(fmt.Sprintf("%.1f M %s, %.2f M/s", float64(s.urls)/1e6, b.what, rate))
	}
}

func (b *bar) end() { b.Clear() } //nolint:errcheck // progress may get lost
