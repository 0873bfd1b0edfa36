// Package times converts times to a time zone, and measures and divides time ranges. Times are in microseconds since 1970.
// Ranges may extend from year 1 to year 9999, for which [time.Duration], with its maximum of 292 years, is too short.
// Packages output and report, panels of reports and commands import it. It does not depend on other packages.
package times

import (
	"fmt"
	"math"
	"time"
)

// ParseZone returns a time zone by its name in the IANA database, such as "Europe/Berlin"; UTC for "". It rejects "Local",
// which depends on the machine.
func ParseZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, fmt.Errorf("%q depends on the machine: write a name such as Europe/Berlin", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: write a name of the IANA database, such as Europe/Berlin or America/New_York", name)
	}
	return loc, nil
}

// A Clock converts times to local time. The zero value is for UTC. It is not safe for concurrent use. It caches the UTC
// offset of the last time, with the time range in which it applies.
type Clock struct {
	loc      *time.Location // nil means UTC
	from, to int64          // offset applies to times from <= t < to, in microseconds
	offset   int64          // in microseconds, east of UTC
}

// NewClock returns the Clock for a time zone; nil means UTC.
func NewClock(loc *time.Location) Clock {
	if loc == time.UTC {
		loc = nil
	}
	return Clock{loc: loc}
}

// Shown converts a time, in microseconds since 1970, to local time: the result, formatted as UTC, is the local time. When
// clocks are set back, two times have the same result.
func (c *Clock) Shown(micros int64) int64 {
	if c.loc == nil {
		return micros
	}
	if micros < c.from || micros >= c.to {
		c.find(micros)
	}
	return micros + c.offset
}

// Time is like Shown, for a time.Time. The result is in UTC.
func (c *Clock) Time(t time.Time) time.Time {
	if c.loc == nil || t.IsZero() {
		return t.UTC()
	}
	return time.UnixMicro(c.Shown(t.UnixMicro())).UTC()
}

// Name returns the name of the time zone.
func (c *Clock) Name() string {
	if c.loc == nil {
		return "UTC"
	}
	return c.loc.String()
}

// find sets the offset at a time, and the range in which it applies.
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
