package pipeline

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
	NeedsAgents bool         // rows without User-Agents are an error
	NoAgents    error        // error for a log without User-Agents; nil means the usual error
	NoTimes     error        // error for a log without times; nil if times are not needed
	Dated       bool         // a row had a time, if times are needed
	Late        int64        // number of rows with a time after late
	fault       error        // error of rows that lack a field
}

// late is one year after the day of the table of crawlers, in microseconds since 1970.
var late = func() int64 {
	day, err := time.Parse(time.DateOnly, crawlers.Date())
	if err != nil {
		panic(err) // package crawlers checks its days
	}
	return day.AddDate(1, 0, 0).UnixMicro()
}()

// Next fills b with the next rows, and counts them. It returns false at the end of the logs, or if a log lacks a
// field that the flags need; see Err.
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

// Err returns the error that ended the rows.
func (s *Source) Err() error {
	if s.fault != nil {
		return s.fault
	}
	return s.Logs.Err()
}

// Sample returns the progress of reading. Any goroutine may call it.
func (s *Source) Sample() console.Sample {
	done, total := s.Progress()
	return console.Sample{Done: done, Total: total, URLs: s.URLs.Load(), Bytes: true}
}

// Errors for logs that lack a field that a flag needs.
var (
	errNoUserAgents = errors.New("-agent-from-log: this log has no field user_agent, because it is read as a list of URLs: name crawlers with -agent, or the format with -format")
	ErrNoTimes      = errors.New("-as-of log: this log has no times, because it is read as a list of URLs: name a date, such as -as-of 2026-01-31, or the format with -format")
	ErrNoDates      = errors.New("-partition-by date: this log has no time field: name it with -field time=name, or leave out date")
)
