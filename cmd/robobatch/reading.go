package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// A reading is the flags that say how robots.txt is read, and which one of several, as they were given. Every command
// that reads rules has them. They stand in the metadata of the output, as they change what it says.
type reading struct {
	Dialect     string `json:"-"` // the record has its own
	AgentChars  string `json:"agent_chars"`
	EmptyAllow  string `json:"yandex_empty_allow"`
	StrictBlank bool   `json:"yandex_strict_blank"`
	AsOf        string `json:"as_of"` // "" is the newest capture, asOfLog that of the row's time
}

// define defines the flags.
func (r *reading) define(fs *flag.FlagSet) {
	r.defineDialect(fs)
	fs.StringVar(&r.AsOf, "as-of", "", "")
}

// defineDialect defines those that say how robots.txt is read.
func (r *reading) defineDialect(fs *flag.FlagSet) {
	fs.StringVar(&r.Dialect, "dialect", "google", "")
	fs.StringVar(&r.AgentChars, "agent-chars", "standard", "")
	fs.StringVar(&r.EmptyAllow, "yandex-empty-allow", "disallow", "")
	fs.BoolVar(&r.StrictBlank, "yandex-strict-blank", false, "")
}

// asOfLog is the value of -as-of that has each row decided by the captures in force at its time.
const asOfLog = "log"

// byRow reports whether each row is decided by the captures in force at its time.
func (r *reading) byRow() bool { return r.AsOf == asOfLog }

// settle returns the dialect with its options, and the moment whose rules are in force: zero for that of the newest
// capture, and if there is no one moment. Each fault is a usageError, and all of them are joined.
func (r *reading) settle() (d robots.Dialect, asOf time.Time, err error) {
	var errs []error
	check := func(name string, err error) {
		if err != nil {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	d, err = robots.ParseDialect(strings.ToLower(r.Dialect))
	check("dialect", withHint(err, r.Dialect, enumerated["dialect"]))
	yandex := d == robots.Yandex || err != nil
	switch r.AgentChars {
	case "standard":
	case "extended":
		d |= robots.WideTokens
	default:
		err := fmt.Errorf("unknown set %q: use standard (letters, - and _) or extended (digits and dots, too)", r.AgentChars)
		check("agent-chars", withHint(err, r.AgentChars, enumerated["agent-chars"]))
	}
	switch r.EmptyAllow {
	case "disallow":
	case "ignore":
		d |= robots.EmptyAllowIgnored
	default:
		err := fmt.Errorf("unknown meaning %q: use disallow or ignore", r.EmptyAllow)
		check("yandex-empty-allow", withHint(err, r.EmptyAllow, enumerated["yandex-empty-allow"]))
	}
	if r.StrictBlank {
		d |= robots.BlankEndsSection
	}
	if d.Has(robots.EmptyAllowIgnored) && !yandex {
		check("yandex-empty-allow", errOnlyYandex)
	}
	if d.Has(robots.BlankEndsSection) && !yandex {
		check("yandex-strict-blank", errOnlyYandex)
	}
	if !r.byRow() {
		asOf, err = parseMoment(r.AsOf)
		check("as-of", err)
	}
	return d, asOf, errors.Join(errs...)
}

// errOnlyYandex is the error of an option that other dialects than yandex do not have.
var errOnlyYandex = errors.New("this is an option of the dialect yandex: add -dialect yandex, or leave it out")

// errNoRows is the error of asOfLog where there is no log.
var errNoRows = errors.New("\"log\" is for robobatch itself, which has rows with their times: write a moment, such as 2026-01-31T18:00:00Z")

// errNoTimes is the error of a log that has no times for asOfLog.
var errNoTimes = errors.New("-as-of log: this log has no times, as it is a list of URLs: name a moment, such as -as-of 2026-01-31, or its format with -format")

// momentLayouts are the ways to write a moment. One without a time of day is the start of that day, one without a zone is
// in UTC.
var momentLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateTime, time.DateOnly}

// parseMoment returns the moment, in UTC; zero for "".
func parseMoment(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range momentLayouts {
		if t, err := time.Parse(layout, s); err == nil && !t.IsZero() {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no moment: write 2026-01-31T18:00:00Z, or 2026-01-31 for the start of that day in UTC", s)
}

// metadata returns the flags, but for the dialect, as metadata of an output.
func (r *reading) metadata() [][2]string {
	return [][2]string{
		{"robobatch.agent_chars", r.AgentChars},
		{"robobatch.yandex_empty_allow", r.EmptyAllow},
		{"robobatch.yandex_strict_blank", strconv.FormatBool(r.StrictBlank)},
		{"robobatch.as_of", r.AsOf},
	}
}
