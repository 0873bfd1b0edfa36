// Package flow is the two ends of a run: a source that counts the rows of logs and refuses logs
// that lack a field that the flags need, and a sink that counts, lists and limits rejected lines. It hides the format
// of that list, and names the place of the rows before a fault. Only cmd/robobatch imports it.
package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// A Source is logs whose rows are counted.
type Source struct {
	*ingest.Logs
	URLs        atomic.Int64 // read so far
	NeedsAgents bool         // rows without User-Agents are a fault
	NoAgents    error        // in place of the usual one about that; nil is that
	NoTimes     error        // of rows of a log without times; nil if these are not needed
	Dated       bool         // a row had a time, of those whose times are needed
	Late        int64        // rows whose times are read, and are over a year younger than the table of crawlers
	fault       error        // of rows that lack them
}

// late is a year after the day of the table of crawlers, in microseconds since 1970.
var late = func() int64 {
	day, err := time.Parse(time.DateOnly, crawlers.Date())
	if err != nil {
		panic(err) // package crawlers checks its days
	}
	return day.AddDate(1, 0, 0).UnixMicro()
}()

// Next fills b with the next rows.
func (s *Source) Next(b *engine.Batch) bool {
	if s.fault != nil || !s.Logs.Next(b) {
		return false
	}
	if s.NeedsAgents && b.Len() > 0 && len(b.UserAgents) == 0 {
		s.fault = fmt.Errorf("%s: %w", s.Inputs()[b.Input].Name, cmp.Or(s.NoAgents, errNoUserAgents))
		return false
	}
	if s.NoTimes != nil && b.Len() > 0 && len(b.Times) == 0 {
		s.fault = fmt.Errorf("%s: %w", s.Inputs()[b.Input].Name, s.NoTimes)
		return false
	}
	if s.NoTimes != nil && !s.Dated {
		s.Dated = slices.ContainsFunc(b.Times, func(t int64) bool { return t != engine.NoTime })
	}
	if s.NeedsAgents {
		for _, t := range b.Times {
			if t > late {
				s.Late++
			}
		}
	}
	s.URLs.Add(int64(b.Len()))
	return true
}

// Err returns the error that broke the rows off.
func (s *Source) Err() error {
	if s.fault != nil {
		return s.fault
	}
	return s.Logs.Err()
}

// Sample returns how far the logs are read. It may be called from any goroutine.
func (s *Source) Sample() console.Sample {
	done, total := s.Progress()
	return console.Sample{Done: done, Total: total, URLs: s.URLs.Load(), Bytes: true}
}

// The errors of logs that lack a field that a flag needs.
var (
	errNoUserAgents = errors.New("-agent-from-log: this log has no field user_agent, as it is read as a list of URLs: name the crawlers that all rows are decided for with -agent, or its format with -format")
	ErrNoTimes      = errors.New("-as-of log: this log has no times, as it is read as a list of URLs: name a moment, such as -as-of 2026-01-31, or its format with -format")
	ErrNoDates      = errors.New("-partition-by date: this log has no field with the time: name it with -field time=name, or leave date out")
)
