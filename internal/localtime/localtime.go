// Package localtime formats times in a time zone. Package output and report import it. It does not depend on other
// packages.
package localtime

import (
	"fmt"
	"math"
	"time"
)

// Parse returns the place of that name in the IANA database of time zones, such as "Europe/Berlin"; UTC for "". "Local" is
// refused: it is another place on another machine.
func Parse(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, fmt.Errorf("%q depends on the machine: write a name such as Europe/Berlin", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: write a name of the IANA database, such as Europe/Berlin or America/New_York", name)
	}
	return loc, nil
}

// A Clock tells the clock time of a place. The zero value shows UTC. It is for one goroutine, and asks the database
// only when a time is not between the same changes of clocks as the one before.
type Clock struct {
	loc      *time.Location // nil is UTC
	from, to int64          // the times, in microseconds, between which offset holds: from <= t < to
	offset   int64          // in microseconds, east of UTC
}

// New returns the clock of a place; nil is UTC.
func New(loc *time.Location) Clock {
	if loc == time.UTC {
		loc = nil
	}
	return Clock{loc: loc}
}

// Shown returns the clock's reading at a time: microseconds since 1970 that, read as UTC, are that reading. Where clocks are
// put back, two times have the same reading.
func (c *Clock) Shown(micros int64) int64 {
	if c.loc == nil {
		return micros
	}
	if micros < c.from || micros >= c.to {
		c.find(micros)
	}
	return micros + c.offset
}

// Time is Shown of a time. The result is in UTC.
func (c *Clock) Time(t time.Time) time.Time {
	if c.loc == nil || t.IsZero() {
		return t.UTC()
	}
	return time.UnixMicro(c.Shown(t.UnixMicro())).UTC()
}

// Name returns the name of the place.
func (c *Clock) Name() string {
	if c.loc == nil {
		return "UTC"
	}
	return c.loc.String()
}

// find finds the offset at a time, and how long it holds.
func (c *Clock) find(micros int64) {
	t := time.UnixMicro(micros).In(c.loc)
	_, offset := t.Zone()
	c.offset = int64(offset) * 1e6
	from, to := t.ZoneBounds()
	if c.from = math.MinInt64; !from.IsZero() {
		c.from = from.UnixMicro()
	}
	if c.to = math.MaxInt64; !to.IsZero() {
		c.to = to.UnixMicro()
	}
}
