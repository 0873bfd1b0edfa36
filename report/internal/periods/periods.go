// Package periods compares the activity of crawlers on the days of two periods. It claims a change only if it exceeds
// the usual variation from week to week. Package report imports it.
//
// A claim must pass four tests, because a single test can find a change where there is none:
//
//   - Its confidence interval excludes 0. The interval is a bootstrap over blocks of 7 days that begin on any
//     day, so weekdays and similarity of adjacent days do not matter. The variance of infinitely many draws is
//     a sum over the blocks: nothing is drawn, and equal days give equal results. The noise of one crawler is
//     shrunk towards that of all, because a few weeks say little. The more numbers are tested, the wider the
//     intervals, so that all claims together are wrong in one of twenty comparisons.
//   - It is outside the range of the quietest and the busiest 7 days before.
//   - Three of four days after the change are beyond the previous median: an outage or a holiday is not a new
//     level.
//   - It is at least a tenth.
//
// make periods shows what this claims about simulated crawlers.
package periods

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// A Day holds the numbers of a client on a day, indexed by [Names].
type Day [5]int64

// Names are the numbers of a Day. Bytes are not independent events, so they are tested as requests; violations are
// tested together with disallowed requests.
var Names = [len(Day{})]string{"requests", "errors", "disallowed", "bytes", "violations"}

// Indexes of the numbers of a Day. They are the first ones of a timeline.Cell.
const (
	Requests = iota
	Errors
	Denied
	Bytes
	Violations
)

// Limits of a comparison, in days and weeks. Older weeks say little about usual activity.
const (
	leastBefore = 14
	leastAfter  = 7
	mostWeeks   = 8
)

// Limits of claims.
const (
	leastCount  = 50   // requests, or errors
	leastChange = 0.1  // as a logarithm
	leastNoise  = 0.05 // per week
	prior       = 6    // weight of the noise that all crawlers have in common, in weeks
	errorRate   = 0.05 // for all claims of a comparison together
)

// A Comparison compares the activity of clients in two periods.
type Comparison struct {
	Change string   `json:"change"` // the given date; "" if another log has the previous period
	Before string   `json:"before"` // first and last complete day; "" if there is no complete day
	After  string   `json:"after"`
	Claims []string `json:"claims"` // sentences
	Limit  string   `json:"limit"`  // why no change is claimed; "" if one is
	Rows   []Row    `json:"rows"`   // all requests, unidentified clients, all crawlers, and then each crawler

	At time.Time `json:"-"` // Change in local time, stored as UTC
}

// A Row compares the activity of one client. Its days are complete and consecutive.
type Row struct {
	Name    string             `json:"name"`
	Crawler bool               `json:"crawler"` // others are not tested: they have holidays
	Since   string             `json:"since"`   // its first day after the change; "" if there is none
	Days    [2]int             `json:"days"`    // compared days before and after
	Changes [len(Day{})]Change `json:"changes"`

	before, after []Day
}

// A Change compares one number of a client in both periods.
type Change struct {
	Number  string  `json:"number"`
	Before  float64 `json:"before"` // per day
	After   float64 `json:"after"`
	Claimed bool    `json:"claimed"`
	Low     float64 `json:"low"` // lower bound of After/Before - 1 if the change is claimed
	High    float64 `json:"high"`
}

// NewRow returns a row of days, which it keeps; after begins with the first day after the change. It drops days so
// that whole weeks remain, at most mostWeeks in each period.
func NewRow(name string, isCrawler bool, since string, before, after []Day) Row {
	return Row{Name: name, Crawler: isCrawler, Since: since, before: lastWeeks(before), after: lastWeeks(after)}
}

// lastWeeks returns the last complete weeks of days, at most mostWeeks, so that each weekday occurs equally often. If
// there is less than a week, it returns all days.
func lastWeeks(days []Day) []Day {
	if n := min(len(days)/7, mostWeeks) * 7; n > 0 {
		return days[len(days)-n:]
	}
	return days
}

// Compare fills in the changes of Rows, claims those that pass the tests, and sets Claims and Limit. It sorts the
// crawlers by requests, behind the other rows.
func (c *Comparison) Compare() {
	var judged, noises [len(Day{})]float64
	tests, isLong := 0., false
	for i := range c.Rows {
		r := &c.Rows[i]
		r.Days = [2]int{len(r.before), len(r.after)}
		isLong = isLong || r.Crawler && r.isLong()
		for m := range r.Changes {
			if r.Changes[m] = (Change{Number: Names[m], Before: mean(r.before, m), After: mean(r.after, m)}); r.isJudged(m) {
				judged[m]++
				noises[m] += noise(r.before, m)
				tests++
			}
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b Row) int {
		if !a.Crawler || !b.Crawler {
			return map[bool]int{true: 1}[a.Crawler] - map[bool]int{true: 1}[b.Crawler]
		}
		return cmp.Compare(b.Changes[Requests].Before+b.Changes[Requests].After, a.Changes[Requests].Before+a.Changes[Requests].After)
	})
	c.Claims = []string{}
	for i := range c.Rows {
		r := &c.Rows[i]
		for m := range r.Changes {
			if r.isJudged(m) {
				r.judge(m, noises[m]/judged[m], errorRate/tests)
			}
		}
		if text := r.claimText(); text != "" {
			c.Claims = append(c.Claims, text)
		}
	}
	switch {
	case len(c.Claims) > 0:
	case isLong:
		c.Limit = "No crawler changed by more than it usually does from week to week."
	default:
		c.Limit = fmt.Sprintf("Too short to distinguish a change from the usual variation: that needs %d whole days before and %d after.", leastBefore, leastAfter)
	}
}

// isLong reports whether a row has enough days for claims.
func (r *Row) isLong() bool { return len(r.before) >= leastBefore && len(r.after) >= leastAfter }

// isJudged reports whether a change of number m may be claimed: the row is a crawler with enough days and events.
func (r *Row) isJudged(m int) bool {
	return r.Crawler && m != Violations && r.isLong() && sum(r.before, m)+sum(r.after, m) > 0 && sum(r.before, testedNumber(m))+sum(r.after, testedNumber(m)) >= leastCount
}

// testedNumber returns the index of the number whose events test number m.
func testedNumber(m int) int {
	if m == Bytes {
		return Requests
	}
	return m
}

// judge decides whether the change of number m is claimed. usual is the mean noise of all crawlers, and probability
// that of a wrong claim.
func (r *Row) judge(m int, usual, probability float64) {
	c := &r.Changes[m]
	before, after := float64(len(r.before)), float64(len(r.after))
	wasCounted, isCounted := float64(sum(r.before, testedNumber(m))), float64(sum(r.after, testedNumber(m)))
	// Adding half an event keeps logarithms finite.
	unit := (c.Before*before + c.After*after) / (wasCounted + isCounted)
	log := math.Log((c.After + unit/2/after) / (c.Before + unit/2/before))

	low, high := math.Inf(1), 0.
	for i := range r.before {
		one := weekMean(r.before, i, m)
		low, high = min(low, one), max(high, one)
	}
	k := before / 7
	all := max(leastNoise*leastNoise, (prior*usual+(k-1)*noise(r.before, m))/(prior+k-1))
	width := criticalWidth(probability, prior+k-1) * math.Sqrt(all*(1/k+7/after)+1/(wasCounted+0.5)+1/(isCounted+0.5))

	beyond, middle := 0, median(r.before, m)
	for i := range r.after {
		if n := r.after[i][m]; log > 0 && n > middle || log < 0 && n < middle {
			beyond++
		}
	}
	isBeyond := log-width > 0 && c.After > high || log+width < 0 && c.After < low
	if isBeyond && 4*beyond >= 3*len(r.after) && math.Abs(log) > leastChange {
		c.Claimed, c.Low, c.High = true, math.Exp(log-width)-1, math.Exp(log+width)-1
	}
}

// noise returns the variance of a weekly mean of number m, relative to the mean, over all blocks of 7 days; 0 if the
// mean is 0. The blocks are circular, so that each day counts equally. There must be more than 7 days.
func noise(days []Day, m int) float64 {
	all, square := mean(days, m), 0.
	if all == 0 {
		return 0
	}
	for i := range days {
		one := weekMean(days, i, m) - all
		square += one * one
	}
	return square / (all * all) / float64(len(days)-7)
}

// weekMean returns the mean of number m over 7 days from a given one. After the last day it continues with the first.
func weekMean(days []Day, from, m int) (mean float64) {
	for d := range 7 {
		mean += float64(days[(from+d)%len(days)][m]) / 7
	}
	return mean
}

// sum returns the sum of a number over days.
func sum(days []Day, m int) (n int64) {
	for i := range days {
		n += days[i][m]
	}
	return n
}

// mean returns the mean of a number over days; 0 without days.
func mean(days []Day, m int) float64 { return float64(sum(days, m)) / float64(max(1, len(days))) }

// median returns the median of number m over days, the upper one of two. There must be at least one day.
func median(days []Day, m int) int64 {
	all := make([]int64, 0, len(days))
	for i := range days {
		all = append(all, days[i][m])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// criticalWidth returns the half-width, in standard errors, of an interval with the given error probability: a quantile
// of Student's t, in D. L. Wallace's approximation by the normal distribution.
func criticalWidth(p, freedom float64) float64 {
	z := math.Sqrt2 * math.Erfinv(1-p) * (8*freedom + 3) / (8*freedom + 1)
	return math.Sqrt(freedom * math.Expm1(z*z/freedom))
}

// claimText returns the claimed changes of a row as a sentence; "" if there are none.
func (r *Row) claimText() string {
	var all []string
	for m := range r.Changes {
		if c := &r.Changes[m]; c.Claimed {
			text := fmt.Sprintf("%s %s → %s", c.Number, c.Text(c.Before), c.Text(c.After))
			if share := c.Share(); share != "" {
				text += fmt.Sprintf(" (%s; %s to %s)", share, percent(c.Low), percent(c.High))
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return r.Name + ", per day: " + strings.Join(all, ", ") + "."
}

// Text formats a number per day: bytes with a unit, small numbers with one decimal place.
func (c *Change) Text(n float64) string {
	switch {
	case c.Number == Names[Bytes]:
		return show.Size(int64(math.Round(n)))
	case n < 10 && n != math.Trunc(n):
		return fmt.Sprintf("%.1f", n)
	}
	return show.Number(int64(math.Round(n)))
}

// String returns both numbers per day and the relative change; only one number if both are formatted alike.
func (c *Change) String() string {
	was, text := c.Text(c.Before), c.Text(c.After)
	if was == text {
		return text
	}
	text = was + " → " + text
	if share := c.Share(); share != "" {
		text += " (" + share + ")"
	}
	return text
}

// Title names the compared periods.
func (c *Comparison) Title() string {
	text := "Compared in whole days: " + cmp.Or(c.Before, "none") + " with " + cmp.Or(c.After, "none")
	if c.Change != "" {
		text += "; the given date is " + c.Change
	}
	return text + "."
}

// Share returns the relative change; "" if there was nothing before.
func (c *Change) Share() string {
	if c.Before == 0 {
		return ""
	}
	return percent(c.After/c.Before - 1)
}

// percent formats a change in percent, with its sign.
func percent(x float64) string {
	n := int64(math.Round(100 * x))
	return cmp.Or(map[int]string{1: "+", -1: "−"}[cmp.Compare(n, 0)], "±") + show.Number(max(n, -n)) + "%"
}
