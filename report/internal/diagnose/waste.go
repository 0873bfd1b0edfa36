package diagnose

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/prefix"
)

// A Waste finds parameters that create versions of pages, and endless URL spaces: sessions and calendars. URLs must
// come once each, by origin and path, and for each path the one without a query first. A site is then complete when the
// next begins, and memory does not grow with the log. Call End after the last URL.
type Waste struct {
	Year int // year of the last request; 0 is unknown

	parameters []*parameter
	spaces     []Space
	names      []string // of parameters of spaces

	origin, dir, path []byte // parts of the last URL; dir is the first directory
	paths, urls       int64  // paths of the site with a query, and all URLs
	bare              []byte // the last path that is served without a query
	plain, size       int64  // its requests and size; 0 is unknown

	of          map[string]*parameter // of the site
	seen        []*parameter          // parameters of the current URL
	sessions    map[string]*session   // of the site, by name as written
	site, below calendar              // of the site, and of dir

	buffer []byte
}

// A Visit is a URL and its requests.
type Visit struct {
	URL             []byte
	Origin, PathEnd int     // position and end of its path
	Spent           []Spent // requests of crawlers that may make them
	Others          int64   // requests of unidentified clients
	Failed          int64   // part of Spent with an error response
	Served          int64   // requests of all clients that got the page
	Size            int64   // size of the page; 0 is unknown
}

// Spent is the number of requests that a crawler spent on a URL.
type Spent struct {
	Crawler  int
	Requests int64
}

// AddSpent adds requests of a crawler to v.Spent, where each crawler occurs once.
func (v *Visit) AddSpent(crawler int, requests int64) {
	for i := range v.Spent {
		if v.Spent[i].Crawler == crawler {
			v.Spent[i].Requests += requests
			return
		}
	}
	v.Spent = append(v.Spent, Spent{crawler, requests})
}

// Add counts a URL, and does not keep v. It ignores URLs whose path does not begin with "/". URLs that no crawler
// requested count only as pages without a query.
func (w *Waste) Add(v *Visit) {
	if v.PathEnd <= v.Origin || v.URL[v.Origin] != '/' {
		return
	}
	path := v.URL[v.Origin:v.PathEnd]
	if w.of == nil || !bytes.Equal(v.URL[:v.Origin], w.origin) {
		w.endSite()
		w.origin = append(w.origin[:0], v.URL[:v.Origin]...)
	}
	if dir := path[:1+max(0, bytes.IndexByte(path[1:], '/')+1)]; !bytes.Equal(dir, w.dir) {
		w.endCalendar(&w.below)
		w.dir = append(w.dir[:0], dir...)
	}
	if v.PathEnd == len(v.URL) && v.Served > 0 {
		w.bare, w.plain, w.size = append(w.bare[:0], path...), v.Served, v.Size
	}
	if len(v.Spent) == 0 {
		return
	}
	w.urls++
	w.addParameters(v, path)
	if w.addSession(v, path) {
		return
	}
	// A day or month long after the log belongs to a calendar.
	d, isDate := w.date(v)
	far := lastYear + 1
	if w.Year > 0 {
		far = w.Year + aheadYears
	}
	if !isDate || d.year < far {
		return
	}
	c := &w.below
	if len(w.dir) == 1 { // pages of the root are not related
		c = &w.site
	}
	if d.year >= lateYear && !c.isCalendar() { // elsewhere these are other numbers
		return
	}
	c.add(v)
	if c.failed += v.Failed; c.days == nil {
		c.days = map[int]uint32{}
	}
	if month := 12*d.year + d.month; c.days[month]>>d.day&1 == 0 {
		c.days[month] |= 1 << d.day
		c.dates++
	}
	c.isNamed = c.isNamed || dateWords.Match(d.name) || calendarWords.Match(d.name)
	if len(c.names) < mostParameters && !slices.Contains(c.names, string(d.name)) {
		c.names = append(c.names, string(d.name))
	}
}

// End returns the parameters and the spaces, both with the most requests first. Parameters of spaces are left out.
func (w *Waste) End() (parameters []Parameter, spaces []Space) {
	w.endSite()
	slices.SortStableFunc(w.parameters, func(a, b *parameter) int { return cmp.Compare(b.requests, a.requests) })
	for _, p := range w.parameters {
		if !slices.Contains(w.names, p.Origin+"?"+p.Name) {
			parameters = append(parameters, p.Parameter)
		}
	}
	slices.SortStableFunc(w.spaces, func(a, b Space) int { return cmp.Compare(b.Requests, a.Requests) })
	return parameters, w.spaces
}

// endSite completes the current site: it keeps its spaces, and the parameters that create versions of pages.
func (w *Waste) endSite() {
	w.endCalendar(&w.below)
	w.endCalendar(&w.site)
	for _, name := range slices.Sorted(maps.Keys(w.sessions)) {
		s := w.sessions[name]
		// Each visitor gets different ids, on all pages. Ids that several crawlers or people request, or that occur on few
		// pages, identify things.
		if s.pages.countTexts() >= leastPages && s.ids.countTexts() >= leastIDs && mostShared*s.ids.shared() <= s.ids.countTexts() {
			switch s.Pattern = "/*?" + name + "="; name[0] {
			case ';':
				s.Pattern = "/*" + name + "="
			case '(':
				s.Pattern = "/*" + name
			}
			w.endSpace(&s.Space, "URLs with session ids", name)
		}
	}
	isBeside := func(p *parameter) bool { // most of its URLs also have a parameter that selects pages
		for other, n := range p.beside {
			if 2*n >= p.URLs && !pagers.MatchString(other.Name) && other.selectsPages() {
				return true
			}
		}
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(w.of)) {
		if p := w.of[name]; p.URLs >= parameterURLs && p.values.countTexts() >= leastValues && !campaigns.MatchString(name) && !p.selectsPages() && !isBeside(p) {
			p.Origin = string(w.origin)
			w.parameters = append(w.parameters, p)
		}
	}
	w.of, w.sessions, w.paths, w.bare = map[string]*parameter{}, map[string]*session{}, 0, w.bare[:0]
}

// endSpace keeps a space of the current site, with its text and the names of its parameters, if it has enough URLs.
func (w *Waste) endSpace(s *Space, text string, names ...string) {
	if s.URLs < endlessURLs {
		return
	}
	s.Text, s.Origin, s.Path = text, string(w.origin), string(s.common[:bytes.LastIndexByte(s.common, '/')+1])
	w.spaces = append(w.spaces, *s)
	for _, name := range names {
		w.names = append(w.names, s.Origin+"?"+name)
	}
}

// add counts a URL of a space with its requests by crawlers, and shortens s.common to the prefix that it shares.
func (s *Space) add(v *Visit) {
	path := v.URL[v.Origin:v.PathEnd]
	if s.URLs++; s.URLs == 1 {
		s.By, s.common = map[int]int64{}, append(s.common[:0], path...)
	}
	s.common = s.common[:prefix.Shared(s.common, path)]
	for _, by := range v.Spent {
		s.Requests += by.Requests
		s.By[by.Crawler] += by.Requests
	}
}

// isPlain reports whether a text has no byte with a special meaning in a rule.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("*$#%", r) })
}

// A sample estimates the number of distinct texts, and how many of them several clients requested, independent of their
// order. It keeps the texts whose hash begins with some number of zeros.
type sample struct {
	by    map[uint64]int // client that requested it; several means more than one
	zeros int
}

const (
	mostSampled = 256
	several     = -1 // value for several clients
	people      = -2 // value for clients that are not crawlers
)

// add adds a text that a client requested: the number of a crawler, or people. If there are too many texts, it keeps
// half of them, chosen by their hashes.
func (s *sample) add(text []byte, who int) {
	h := xxh3.Hash(text)
	if h>>(64-s.zeros) != 0 {
		return
	}
	if s.by == nil {
		s.by = map[uint64]int{}
	}
	if one, known := s.by[h]; known && one != who {
		who = several
	}
	for s.by[h] = who; len(s.by) > mostSampled; {
		s.zeros++
		maps.DeleteFunc(s.by, func(h uint64, _ int) bool { return h>>(64-s.zeros) != 0 })
	}
}

// countTexts estimates the number of distinct texts.
func (s *sample) countTexts() int64 { return int64(len(s.by)) << s.zeros }

// shared estimates the number of distinct texts that several clients requested.
func (s *sample) shared() (n int64) {
	for _, who := range s.by {
		n += int64(bit(who == several))
	}
	return n << s.zeros
}

// A parameter counts the URLs of a site that have it.
type parameter struct {
	Parameter
	requests int64
	plain    int64 // served requests for its paths without a query
	values   sample
	url      int64                // index of the last URL
	path     int64                // index of its path
	last     int64                // size of the last URL of that path; 0 is unknown
	beside   map[*parameter]int64 // URLs that also have another parameter; at most mostParameters others
}

// pairs yields the names and values of the parameters in the query of a path, at most mostParameters. It skips names
// that are empty, too long or contain a slash.
func pairs(path []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		_, query, _ := bytes.Cut(path, []byte("?"))
		query, _, _ = bytes.Cut(query, []byte("#"))
		sep := []byte("&")
		if n := bytes.Count(query, []byte(";")); n > 0 && bytes.Count(query, []byte("=")) > n && bytes.IndexByte(query, '&') < 0 {
			sep = []byte(";")
		}
		for n := 0; len(query) > 0 && n < mostParameters; n++ {
			var pair []byte
			pair, query, _ = bytes.Cut(query, sep)
			name, value, _ := bytes.Cut(pair, []byte("="))
			if len(name) > 0 && len(name) <= longParameter && bytes.IndexByte(name, '/') < 0 && !yield(name, value) {
				return
			}
		}
	}
}

// addParameters counts a URL for each of its parameters, once for repeated ones. path is the path of v. Parameters of
// a site beyond mostNames are ignored.
func (w *Waste) addParameters(v *Visit, path []byte) {
	isNew, isBare, bare := !bytes.Equal(path, w.path), bytes.Equal(path, w.bare), int64(0)
	if isBare {
		bare = w.size
	}
	w.seen = w.seen[:0]
	for name, value := range pairs(v.URL[v.PathEnd:]) {
		if isNew || w.paths == 0 {
			w.path, w.paths, isNew = append(w.path[:0], path...), w.paths+1, false
		}
		p := w.of[string(name)]
		if p == nil {
			if len(w.of) >= mostNames {
				continue
			}
			p = &parameter{Parameter: Parameter{Name: string(name)}, beside: map[*parameter]int64{}}
			if w.of[p.Name] = p; isPlain(p.Name) {
				p.Pattern = "/*?" + p.Name + "="
			}
		}
		if p.url == w.urls {
			continue
		}
		p.url = w.urls
		p.URLs++
		for _, other := range w.seen {
			p.addBeside(other)
			other.addBeside(p)
		}
		w.seen = append(w.seen, p)
		for _, by := range v.Spent {
			p.requests += by.Requests
		}
		p.values.add(value, 0)
		if p.Bare += int64(bit(isBare)); p.path != w.paths {
			if p.path, p.last = w.paths, 0; isBare {
				p.plain += w.plain
			}
			if p.Paths++; len(p.Examples) < mostExamples {
				if here := string(v.URL[v.Origin:]); len(p.Examples) == 0 || directory(here) != directory(p.Examples[len(p.Examples)-1]) {
					p.Examples = append(p.Examples, here)
				}
			}
		}
		if v.Size > 0 && bare+p.last > 0 {
			p.Sized++
			p.Same += int64(bit(isSameSize(v.Size, bare) || isSameSize(v.Size, p.last)))
		}
		p.last = cmp.Or(v.Size, p.last)
	}
}

// addBeside counts a URL that also has another parameter.
func (p *parameter) addBeside(other *parameter) {
	if _, known := p.beside[other]; known || len(p.beside) < mostParameters {
		p.beside[other]++
	}
}

// isSameSize reports whether two sizes may belong to one page, with a different token or compression; false if b is 0.
// Other pages of the same template differ by hundreds of bytes, which may be 1 % of a large one.
func isSameSize(a, b int64) bool {
	differ := max(a-b, b-a)
	return b > 0 && differ <= mostDiffer && 100*differ <= max(a, b)
}

var (
	// pagers are the names of parameters for the page number of a list, or its language: rules must not close these.
	pagers = regexp.MustCompile(`(?i)^(page|paged|pg|p|pagina|seite|start|offset|lang|language|locale|hl)$`)

	// campaigns are parameters that record where a visitor comes from.
	campaigns = regexp.MustCompile(`(?i)^(utm_.*|gclid|fbclid|msclkid|yclid|dclid|gbraid|wbraid|mc_cid|mc_eid|_ga)$`)
)

// selectsPages reports whether the values of a parameter seem to select pages, as in /index.php?id=7. A filter has its
// values on many paths, or together with other parameters.
func (p *parameter) selectsPages() bool {
	return pagers.MatchString(p.Name) || !campaigns.MatchString(p.Name) && (p.URLs < leastPerValue*p.values.countTexts() || p.plain*mostPerPlain < p.requests)
}

// A session counts the URLs of a site with a session id in a parameter, or after a ";" in the path.
type session struct {
	Space
	ids, pages sample
}

// sessionNames are the names of session parameters. The first ones are unambiguous; values of the others must look like
// ids.
var sessionNames = regexp.MustCompile(`(?i)^(?:(jsessionid|phpsessid|sessionid|session_id|oscsid|zenid|cftoken|cfid|xtcsid)|sid|session|sessid)$`)

// aspID matches a session id that ASP.NET writes into paths, such as /(S(lit3py55t21z5v55vlm25s55))/.
var aspID = regexp.MustCompile(`/(\((?:[A-Z]\([^()/]*\))*?[A-Z]\()([0-9A-Za-z_-]{16,})\)(?:[A-Z]\([^()/]*\))*\)/`)

// isSession reports whether a parameter is a session id: by its name alone, or by its name and a value that looks
// generated. Short values are none.
func isSession(name, value []byte) bool {
	if len(value) < leastSureID || len(name) < len("sid") || len(name) > len("session_id") {
		return false
	}
	m := sessionNames.FindSubmatchIndex(name)
	return m != nil && (m[2] >= 0 || isToken(value))
}

// addSession counts a URL that has a session id in a parameter or in its path, and reports whether it has one. path is
// the path of v.
func (w *Waste) addSession(v *Visit, path []byte) bool {
	path, rest, _ := bytes.Cut(path, []byte(";"))
	name, id, _ := bytes.Cut(rest, []byte("="))
	id, _, _ = bytes.Cut(id, []byte("/"))
	key := ";" + string(name)
	w.buffer = append(w.buffer[:0], path...) // the page: the path, and the other parameters
	if !isSession(name, id) {
		if name = nil; bytes.Contains(path, []byte("/(")) {
			if m := aspID.FindSubmatchIndex(path); m != nil {
				name, id, key = path[m[2]:m[3]], path[m[4]:m[5]], string(path[m[2]:m[3]])
				w.buffer = append(append(w.buffer[:0], path[:m[2]]...), path[m[5]:]...)
			}
		}
	}
	for one, value := range pairs(v.URL[v.PathEnd:]) {
		if isSession(one, value) && name == nil {
			name, id, key = one, value, string(one)
		} else {
			w.buffer = append(append(append(w.buffer, '&'), one...), value...)
		}
	}
	if name == nil {
		return false
	}
	s := w.sessions[key]
	if s == nil {
		s = new(session)
		w.sessions[key] = s
	}
	s.add(v)
	s.pages.add(w.buffer, 0)
	for _, by := range v.Spent {
		s.ids.add(id, by.Crawler)
	}
	if v.Others > 0 {
		s.ids.add(id, people)
	}
	return true
}

// isToken reports whether a text of at least leastToken bytes looks generated: hexadecimal digits, or a frequently
// changing mixture of upper case, lower case and digits.
func isToken(text []byte) bool {
	digits, upper, lower, hex, changes, last := 0, 0, 0, 0, 0, 0
	for i, b := range text {
		class := 0
		switch {
		case b >= '0' && b <= '9':
			digits, class = digits+1, 1
		case b >= 'A' && b <= 'Z':
			upper, class = upper+1, 2
		case b >= 'a' && b <= 'z':
			lower, class = lower+1, 3
		case b != '-' && b != '_' && b != '(' && b != ')' && b != '=' && b != '~':
			return false
		}
		if class == 1 || class > 1 && b|0x20 <= 'f' {
			hex++
		} else if class > 0 && i >= leastToken && upper == 0 && digits < 3 {
			return false // it is a word
		}
		if class != last && class*last > 0 {
			changes++
		}
		last = class
	}
	letters := upper + lower
	if len(text) < leastToken {
		return false
	}
	if hex == digits+letters && len(text)-hex <= 4 {
		return digits >= 3 && letters >= 2 && (upper == 0 || lower == 0)
	}
	return digits >= 3 && len(text)-digits-letters <= 4 && changes*5 >= len(text) && (upper >= 3 && lower >= 3 || digits*8 >= len(text))
}

// A calendar counts URLs whose parameters choose days and months long after the log.
type calendar struct {
	Space
	dates   int            // distinct dates
	days    map[int]uint32 // by month (12 × year + month): a bit per day, the lowest for the month itself
	failed  int64          // requests that found no page
	isNamed bool           // it is named like a calendar
	names   []string       // names of its parameters
}

var (
	// dateWords are the names of parameters with an eight-digit day.
	dateWords = regexp.MustCompile(`(?i)date|datum|^(day|month|cal|calendar|from|start|when|y)$`)

	// calendarWords are the names of calendar parameters.
	calendarWords = regexp.MustCompile(`(?i)calend|kalend|event|termin|agenda|month|monat|year`)

	yearName = regexp.MustCompile(`(?i)^y(ear)?$`)
)

// A date is a day or a month in a URL, with the name of its parameter.
type date struct {
	year, month, day int // day 0 means the whole month
	name             []byte
}

// isValid reports whether the date exists.
func (d *date) isValid() bool {
	return d.year >= firstYear && d.year <= 9999 && d.month >= 1 && d.month <= 12 && d.day >= 0 && d.day <= 31
}

// dateOf parses a day or a month, such as 2031-02-14, 2031_02 or 20310214. Day is 0 for a month. For other texts, the
// result is not valid.
func dateOf(text string) date {
	if len(text) == 8 && strings.Trim(text, "0123456789") == "" {
		text = text[:4] + "-" + text[4:6] + "-" + text[6:]
	}
	var n [3]int
	for i, part := range strings.Split(strings.ReplaceAll(text, "_", "-"), "-") {
		number, err := strconv.Atoi(part)
		if err != nil || number < 1 || i == len(n) {
			return date{}
		}
		n[i] = number
	}
	return date{year: n[0], month: n[1], day: n[2]}
}

// date returns the date in the parameters of a URL; one before lateYear is preferred.
func (w *Waste) date(v *Visit) (d date, isDate bool) {
	for name, value := range pairs(v.URL[v.PathEnd:]) {
		if len(value) < 4 || len(value) > len("2031-02-14") || value[0] < '1' || value[0] > '9' {
			continue
		}
		one := dateOf(string(value))
		if len(value) == 4 && yearName.Match(name) { // its month is in another parameter
			for other, number := range pairs(v.URL[v.PathEnd:]) {
				switch n, _ := strconv.Atoi(string(number)); strings.ToLower(string(other)) {
				case "month", "m":
					one.month = n
				case "day", "d":
					one.day = n
				}
			}
		}
		if one.isValid() && (!isDate || one.year < lateYear) && (len(value) != 8 || dateWords.Match(name)) {
			one.name = name
			if d, isDate = one, true; d.year < lateYear {
				break
			}
		}
	}
	return d, isDate
}

// isCalendar reports whether the URLs belong to a calendar: its months have several days, or its name says so, and its
// pages exist. A monthly list ends.
func (c *calendar) isCalendar() bool {
	return c.URLs >= leastDates && c.dates >= leastDates && 2*c.failed <= c.Requests && (c.dates > perMonth*len(c.days) || c.isNamed)
}

// endCalendar keeps the space of a complete calendar, if it is one, and empties c.
func (w *Waste) endCalendar(c *calendar) {
	if c.isCalendar() {
		w.endSpace(&c.Space, "an endless calendar", c.names...)
	}
	*c = calendar{}
}
