package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/panics"
)

// A Mode says how progress is shown.
type Mode uint8

// The modes, in the order of [Names].
const (
	auto  Mode = iota // becomes bars or lines
	bars              // a line that redraws itself
	lines             // a new line from time to time
	Off
)

// Names are the names of modes.
var Names = []string{"auto", "bar", "plain", "off"}

// Intervals between updates.
const (
	barInterval   = 200 * time.Millisecond
	plainInterval = 5 * time.Second
)

// Parse returns the mode of that name. "auto" depends on whether stderr is a terminal that can redraw a line.
func Parse(name string, stderr *os.File) (Mode, error) {
	return parseMode(name, IsTerminal(stderr))
}

// parseMode is Parse, but terminal says whether stderr is a terminal.
func parseMode(name string, terminal bool) (Mode, error) {
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

// A Sample is the progress of a part of the run.
type Sample struct {
	Done, Total int64 // files or bytes; Total is negative if unknown
	URLs        int64
	Bytes       bool // Done and Total are bytes
}

// amount returns the completed amount and the total: "25 MB of 100 MB".
func (s Sample) amount() string {
	text := msg.Number
	if s.Bytes {
		text = msg.Bytes
	}
	if s.Total > 0 {
		return text(s.Done) + " of " + text(s.Total)
	}
	return text(s.Done)
}

// timeLeft estimates the remaining time from the time elapsed, in whole seconds. It returns 0 if unknown, or once all
// is read.
func (s Sample) timeLeft(elapsed time.Duration) time.Duration {
	if s.Done <= 0 || s.Done >= s.Total {
		return 0
	}
	return time.Duration(float64(elapsed) * float64(s.Total-s.Done) / float64(s.Done)).Round(time.Second)
}

// A screen shows the samples of one part of the run.
type screen interface {
	show(s Sample)
	end() // leaves the cursor at the start of a line
}

// Watch shows the progress of a part of the run on stderr until stop is called, which must be called once. what names
// the part, such as "URLs". read returns the current progress; it is called from another goroutine, but not after
// stop has returned.
func Watch(mode Mode, stderr *os.File, what string, read func() Sample) (stop func()) {
	if mode == Off {
		return func() {}
	}
	var d screen = &plainLines{stderr, what, time.Now()}
	tick := time.NewTicker(plainInterval)
	if mode == bars {
		d = &bar{w: stderr, width: func() int {
			width, _, _ := term.GetSize(int(stderr.Fd()))
			return width
		}, what: what, started: time.Now()}
		tick.Reset(barInterval)
	}
	quit := make(chan struct{})
	done := panics.Run(func() error {
		defer d.end()
		for {
			select {
			case <-tick.C:
				d.show(read())
			case <-quit:
				return nil
			}
		}
	})
	return func() {
		tick.Stop()
		close(quit)
		if err := <-done; err != nil {
			panic(err)
		}
	}
}

// plainLines is a screen that prints a line per sample.
type plainLines struct {
	w       io.Writer
	what    string
	started time.Time
}

func (p *plainLines) show(s Sample) {
	fmt.Fprintln(p.w, plainLine(p.what, s, time.Since(p.started))) //nolint:errcheck // progress may get lost
}

func (p *plainLines) end() {}

// plainLine formats a Sample and the time elapsed as a line, such as
//
//	URLs: 1.2 of 4.8 GB (25 %), 12,345,678 URLs, 2,469,135/s, 15s left
func plainLine(what string, s Sample, elapsed time.Duration) string {
	var sb strings.Builder
	sb.WriteString(what + ": " + s.amount())
	if s.Total > 0 {
		fmt.Fprintf(&sb, " (%d %%)", 100*s.Done/s.Total)
	}
	if s.URLs > 0 {
		fmt.Fprintf(&sb, ", %s, %s/s", msg.Count(s.URLs, "URL"), msg.Number(int64(float64(s.URLs)/elapsed.Seconds())))
	}
	if left := s.timeLeft(elapsed); left > 0 {
		fmt.Fprintf(&sb, ", %v left", left)
	}
	return sb.String()
}

// A bar is a screen that redraws a single line.
type bar struct {
	w       io.Writer
	width   func() int // current width of the terminal in columns; 0 or less is unknown
	what    string
	started time.Time
	drawn   int // width of the drawn line in columns
}

// The characters of a bar.
const (
	barColumns   = 20 // maximum and minimum width of the bar itself
	leastColumns = 6
	usualWidth   = 80 // assumed if the width of the terminal is unknown
	full, empty  = "█", "░"
)

func (b *bar) show(s Sample) { b.draw(barLine(b.what, s, time.Since(b.started), b.room())) }

// end clears the line.
func (b *bar) end() {
	b.draw("")
	io.WriteString(b.w, "\r") //nolint:errcheck // progress may get lost
}

// room returns the maximum width of the line. The last column stays free, because some terminals wrap when it is
// filled.
func (b *bar) room() int {
	width := b.width()
	if width <= 0 {
		width = usualWidth
	}
	return width - 1
}

// draw overwrites the previous line, and remembers the width of the new one.
func (b *bar) draw(line string) {
	columns := utf8.RuneCountInString(line)
	blank := strings.Repeat(" ", max(0, min(b.drawn, b.room())-columns))
	io.WriteString(b.w, "\r"+line+blank) //nolint:errcheck // progress may get lost
	b.drawn = columns
}

// barLine formats a Sample and the time elapsed as a line of up to room columns. It includes as many of these parts
// as fit, the most important first. The bar gets the remaining columns:
//
//	URLs  25 % |█████░░░░░░░░░░░░░░░| 30s left, 12.3 M URLs, 1.23 M/s, 25 MB of 100 MB
func barLine(what string, s Sample, elapsed time.Duration, room int) string {
	head, known := what, s.Total > 0
	if known {
		head += fmt.Sprintf(" %3d %%", 100*s.Done/s.Total)
	}
	if utf8.RuneCountInString(head) > room {
		return ""
	}
	tail := ""
	var parts []string
	if left := s.timeLeft(elapsed); left > 0 {
		parts = append(parts, left.String()+" left")
	}
	if s.URLs > 0 {
		urls := float64(s.URLs) / 1e6
		parts = append(parts, fmt.Sprintf("%.1f M URLs", urls), fmt.Sprintf("%.2f M/s", urls/elapsed.Seconds()))
	}
	for _, part := range append(parts, s.amount()) {
		separator := ", "
		if tail == "" {
			separator = " "
		}
		if longer := tail + separator + part; utf8.RuneCountInString(head+longer) <= room {
			tail = longer
		}
	}
	columns := min(barColumns, room-utf8.RuneCountInString(head+tail)-len(" ||"))
	if !known || columns < leastColumns {
		return head + tail
	}
	done := int(int64(columns) * s.Done / s.Total)
	return head + " |" + strings.Repeat(full, done) + strings.Repeat(empty, columns-done) + "|" + tail
}
