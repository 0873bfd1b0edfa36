package waste

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A date is a day or a month in a URL.
type date struct {
	year, month, day int    // a day of 0 is a month
	seg              int    // where it begins in the path, by number of the segment
	from             int    // the same by byte
	name             []byte // of the parameter that has it; nil is in the path
}

// dateWords are the names of parameters that have a day in eight digits.
var dateWords = regexp.MustCompile(`(?i)date|datum|^(day|month|cal|calendar|from|start|when)$`)

// The years of dates. Those from lateYear on are dates in a calendar alone, as elsewhere they are numbers of things.
const (
	firstKnown = 1900
	lateYear   = 2100
	endYear    = 10_000
)

// farFrom returns the first year that is long after the log.
func (s *Spaces) farFrom() int {
	if s.Year == 0 {
		return lastYear + 1
	}
	return s.Year + aheadYears
}

// date returns the date at the end of a path, or in the query: one before lateYear if there is one.
func (u *parts) date() (d date, ok bool) {
	if d, ok = pathDate(u.path, u.segs); ok {
		d.from = u.segs[d.seg].from
		if d.year < lateYear {
			return d, true
		}
	}
	for i := range u.pairs {
		p := &u.pairs[i]
		if len(p.value) < 4 || p.value[0] < '1' || p.value[0] > '9' {
			continue
		}
		if one, is := u.pairDate(p); is && (one.year < lateYear || !ok) {
			one.name = p.name
			one.seg = min(1, max(0, len(u.segs)-1))
			if d, ok = one, true; d.year < lateYear {
				break
			}
		}
	}
	return d, ok
}

// pairDate returns the date of a parameter; where it is a year, its month is in another one.
func (u *parts) pairDate(p *pair) (d date, ok bool) {
	if len(p.value) == 4 {
		if !bytes.EqualFold(p.name, []byte("year")) && !bytes.EqualFold(p.name, []byte("y")) {
			return d, false
		}
		year, isYear := yearOf(p.value)
		for i := range u.pairs {
			switch name := &u.pairs[i]; {
			case bytes.EqualFold(name.name, []byte("month")), bytes.EqualFold(name.name, []byte("m")):
				d.month, _ = numberOf(name.value, 12)
			case bytes.EqualFold(name.name, []byte("day")), bytes.EqualFold(name.name, []byte("d")):
				d.day, _ = numberOf(name.value, 31)
			}
		}
		d.year = year
		return d, isYear && d.month > 0
	}
	if len(p.value) == 8 && !dateWords.Match(p.name) {
		return d, false
	}
	return dayOf(p.value)
}

// pathDate returns the date that ends a path, but for one slash, or the ending of a file.
func pathDate(path []byte, segs []seg) (d date, ok bool) {
	n := len(segs) - 1
	if n < 0 || n+1 == mostSegs {
		return d, false
	}
	last := path[segs[n].from:segs[n].to]
	if last[0] < '0' || last[0] > '9' {
		return d, false
	}
	if i := bytes.IndexByte(last, '.'); i > 0 && len(last)-i <= len(".html") {
		last = last[:i]
	}
	if len(last) > 2 {
		d, ok = dayOf(last)
		d.seg = n
		return d, ok
	}
	if n < 1 {
		return d, false
	}
	before := path[segs[n-1].from:segs[n-1].to]
	if year, isYear := yearOf(before); isYear { // year/month
		d.month, ok = numberOf(last, 12)
		d.year, d.seg = year, n-1
		return d, ok
	}
	if n < 2 {
		return d, false
	}
	year, isYear := yearOf(path[segs[n-2].from:segs[n-2].to])
	month, isMonth := numberOf(before, 12)
	day, isDay := numberOf(last, 31)
	return date{year: year, month: month, day: day, seg: n - 2}, isYear && isMonth && isDay
}

// dayOf returns the date of a text like 2031-02-14, 2031-02 or 20310214.
func dayOf(text []byte) (d date, ok bool) {
	if len(text) == 8 {
		text = []byte{text[0], text[1], text[2], text[3], '-', text[4], text[5], '-', text[6], text[7]}
	}
	if len(text) != 7 && len(text) != 10 || text[4] != '-' && text[4] != '_' {
		return d, false
	}
	var isYear, isMonth bool
	d.year, isYear = yearOf(text[:4])
	d.month, isMonth = numberOf(text[5:7], 12)
	if ok = isYear && isMonth; ok && len(text) == 10 {
		d.day, ok = numberOf(text[8:], 31)
		ok = ok && text[7] == text[4]
	}
	return d, ok
}

// yearOf returns a year in four digits.
func yearOf(text []byte) (year int, ok bool) {
	if len(text) != 4 {
		return 0, false
	}
	for _, b := range text {
		if b < '0' || b > '9' {
			return 0, false
		}
		year = 10*year + int(b-'0')
	}
	return year, year >= firstKnown
}

// numberOf returns a number from 1 of one or two digits.
func numberOf(text []byte, most int) (n int, ok bool) {
	if len(text) == 0 || len(text) > 2 {
		return 0, false
	}
	for _, b := range text {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = 10*n + int(b-'0')
	}
	return n, n >= 1 && n <= most
}

// A calendar counts URLs of days and months.
type calendar struct {
	tally
	dates  int            // different ones
	days   map[int]uint32 // of each month that has some, by 12 times its year and its number: a bit each, the lowest is the month itself
	failed int64          // requests that found no page
	years  yearSet
	stem   []byte           // before the date of the first path
	paths  int64            // with a date
	mixed  bool             // others have another stem
	names  map[string]int64 // requests by parameter
	seps   seps
}

// A yearSet has the years from firstKnown on.
type yearSet [endYear - firstKnown]bool

// calendarWords are those of paths and parameters of calendars.
var calendarWords = regexp.MustCompile(`(?i)calend|kalend|event|termin|agenda|month|monat|year`)

// isOne reports whether it is a calendar, so that late years are dates, too: its months have several days, or it is called
// so, and its pages are there.
func (c *calendar) isOne() bool {
	return c.urls >= leastURLs && c.dates >= leastDates && 2*c.failed <= c.requests && (c.dates > perMonth*len(c.days) || c.isNamed())
}

// isNamed reports whether it is called a calendar.
func (c *calendar) isNamed() bool {
	if c.paths > 0 {
		return calendarWords.Match(c.stem)
	}
	return slices.ContainsFunc(frequent(c.names, 2), func(name string) bool {
		return dateWords.MatchString(name) || calendarWords.MatchString(name) || name == "y"
	})
}

// addDate counts a URL by its date.
func (c *calendar) addDate(v *Visit, u *parts, d date) {
	c.addVisit(v)
	if c.failed += v.Failed; c.days == nil {
		c.days = map[int]uint32{}
	}
	if month := 12*d.year + d.month; c.days[month]>>d.day&1 == 0 {
		c.days[month] |= 1 << d.day
		c.dates++
	}
	c.years[d.year-firstKnown] = true
	if d.name != nil {
		countName(&c.names, string(d.name), v.requests())
		c.seps |= u.seps
		return
	}
	if c.paths++; c.paths == 1 {
		c.stem = append(c.stem[:0], u.path[:d.from]...)
	}
	c.mixed = c.mixed || !bytes.Equal(c.stem, u.path[:d.from])
}

// end returns the calendar of a directory, if it is one, and empties it. far is the first year that is long after the log.
func (c *calendar) end(far int, dir string) (found []*Space) {
	if c.isOne() {
		names := frequent(c.names, 2)
		one := c.space(Calendar, names, c.rules(names, far))
		one.InQuery, one.dir, one.late = len(names) > 0, dir, slices.Contains(c.years[lateYear-firstKnown:], true)
		found = append(found, one)
	}
	if c.urls > 0 {
		clear(c.days)
		c.clear()
		c.dates, c.failed, c.years, c.paths, c.mixed, c.seps = 0, 0, yearSet{}, 0, false, 0
		clear(c.names)
	}
	return found
}

// rules returns the rules that close its years, and no earlier ones: nil if URLs have dates behind different paths.
func (c *calendar) rules(names []string, far int) (rules []string) {
	stem := string(c.stem)
	if c.mixed || c.paths > 0 && (len(names) > 0 || !isPlain(stem)) || !isPlain(strings.Join(names, "")) {
		return nil
	}
	before := []string{stem}
	if c.paths == 0 {
		before = nil
		for _, name := range names {
			before = append(before, patternsOf(name, c.seps)...)
		}
	}
	var closed []string
	for n, is := range c.years {
		if prefix := yearPrefix(firstKnown+n, far); is && !slices.Contains(closed, prefix) {
			closed = append(closed, prefix)
			for _, b := range before {
				rules = append(rules, "Disallow: "+b+prefix)
			}
		}
	}
	return rules
}

// yearPrefix returns the fewest digits with which only years begin that are far.
func yearPrefix(year, far int) string {
	text := strconv.Itoa(year)
	switch {
	case year/1000*1000 >= far:
		return text[:1]
	case year/100*100 >= far:
		return text[:2]
	case year/10*10 >= far:
		return text[:3]
	}
	return text
}
