package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// A source is logs whose rows are counted.
type source struct {
	*ingest.Logs
	urls        *atomic.Int64
	needsAgents bool  // rows without User-Agents are a fault
	noTimes     error // of rows of a log without times; nil if these are not needed
	fault       error // of rows that lack them
}

// Next fills b with the next rows.
func (s *source) Next(b *engine.Batch) bool {
	if s.fault != nil || !s.Logs.Next(b) {
		return false
	}
	if s.needsAgents && b.Len() > 0 && len(b.UserAgents) == 0 {
		s.fault = errNoUserAgents
		return false
	}
	if s.noTimes != nil && b.Len() > 0 && len(b.Times) == 0 {
		s.fault = fmt.Errorf("%s: %w", s.Inputs()[b.Input].Name, s.noTimes)
		return false
	}
	s.urls.Add(int64(b.Len()))
	return true
}

// Err returns what broke the rows off.
func (s *source) Err() error {
	if s.fault != nil {
		return s.fault
	}
	return s.Logs.Err()
}

// The errors of logs that lack what a flag needs.
var (
	errNoUserAgents = errors.New("-agent-from-log: this log has no User-Agent; use -agent to name the crawlers")
	errNoTimes      = errors.New("-as-of log: this log has no times, as it is a list of URLs: name a moment, such as -as-of 2026-01-31, or its format with -format")
	errNoDates      = errors.New("-partition-by date: this log has no field with the time: name it with -time-field, or leave date out")
)
