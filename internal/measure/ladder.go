package measure

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A ladder compares the steps from the logs to the output by their least CPU times. A step does the work of the one
// before it, and more.
type ladder struct {
	steps []*step
	urls  int64
}

// A step is a case that takes logs.
type step struct {
	name string
	cpu  time.Duration // 0 before it ran
}

// watch notes the cost of a case, if it takes logs.
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

// write writes the steps as multiples of the first. Without CPU times it writes nothing.
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
