package weblog

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A sampled is a field, with its values in the first records of a log.
type sampled struct {
	name   string
	alias  string   // for patterns: another name by which -keep can name the field
	values [][]byte // by record; nil if missing
}

// A pick is a candidate field for a role.
type pick struct {
	name, unit string
	role       role
	at         int  // index in plan.fields; -1 if it is not in the sample
	with       int  // index of the clock that belongs to a date; -1 if there is none
	join       bool // a query may be joined to it
	bare       bool // a path without a leading slash
	fit        fit
	code       code // overrides unit if it is not asIs
	group      int  // 0 for names of the producer, 1 for names of any program
	rank       int
}

// A fit says whether the values of a field match a role.
type fit int8

const (
	unfit fit = iota - 1
	unsure
	fits
)

// A plan says which fields of a log are read, by role. The first field with a value counts. Fields for URLs, request
// lines and paths are one list, as are those for the client, and those for the time.
type plan struct {
	fields   []sampled
	producer string
	mixed    string // another producer, of other records
	of       [numRoles][]pick
}

// values returns the values that a candidate has in the sample.
func (p *plan) values(of pick) [][]byte {
	if of.at < 0 {
		return nil
	}
	return p.fields[of.at].values
}

// none, as the name of a field, means that no field has the role.
const none = "none"

// planOf returns the plan for a log with these fields.
func planOf(fields []sampled, opt *Options) *plan {
	p := &plan{fields: fields}
	p.findProducer()
	for i, f := range fields {
		for _, e := range entriesOf(f.name, p.producer) {
			if n := len(p.of[e.role]); n > 0 && p.of[e.role][n-1].at == i { // the table has two encodings for the name
				continue
			}
			group := 0
			if e.producer != p.producer {
				group = 1
			}
			one := pick{name: f.name, unit: e.unit, role: e.role, at: i, with: -1, fit: fitOf(e.role, f.values), group: group, rank: e.rank}
			switch {
			case e.role.isTarget() && (isTemplate(f.values) || isFile(f.values)):
				continue
			case e.role == roleProtocol && most(f.values, func(v []byte) bool { return schemeOf(v) != "" }): // as in Heroku's logs
				one.role, one.fit = roleScheme, fits
			case one.fit == unfit && e.role == rolePath && group == 0 && most(f.values, isBare):
				one.fit, one.bare = fits, true
			}
			p.of[one.role] = append(p.of[one.role], one)
		}
	}
	named := p.name(opt)
	for r := range p.of {
		slices.SortStableFunc(p.of[r], byRank)
	}
	if !named[roleHost] {
		p.settleHost(named[roleClient])
	}
	p.settleClient()
	p.settleAgents()
	p.settleTime()
	p.settleTarget()
	return p
}

// replaced are the roles whose fields are ignored if a field is named for a role.
var replaced = [numRoles][]role{
	roleURL: {roleRequest, rolePath}, roleRequest: {roleURL, rolePath}, rolePath: {roleURL, roleRequest}, roleClient: {roleForwarded, rolePeer},
	roleTime: {roleDate, roleClock, roleLogTime}, roleDate: {roleTime, roleLogTime}, roleClock: {roleTime, roleLogTime},
}

// name makes each field that the user named the only field of its role. named are the roles for which the known field
// names are then ignored.
func (p *plan) name(opt *Options) (named [numRoles]bool) {
	for r, word := range roleWords {
		name, ok := opt.Named[word]
		if !ok {
			continue
		}
		r := role(r)
		for _, other := range append(replaced[r], r) {
			if !named[other] || other == r {
				p.of[other], named[other] = nil, true
			}
		}
		if name != none {
			one := p.pickOf(name)
			one.role, one.fit = r, fits
			p.of[r] = []pick{one}
		}
	}
	return named
}

// pickOf returns the field with a name that the user gave.
func (p *plan) pickOf(name string) pick {
	one := pick{name: name, at: p.find(name), with: -1}
	for _, e := range entriesOf(name, p.producer) {
		one.unit = e.unit
	}
	return one
}

// find returns the index of the field with a name, -1 if there is none. For patterns, the last of several counts.
func (p *plan) find(name string) int {
	for i, f := range slices.Backward(p.fields) {
		if f.alias != "" && (f.alias == name || f.name == name) {
			return i
		}
	}
	exact := slices.IndexFunc(p.fields, func(f sampled) bool { return f.name == name })
	if exact < 0 {
		return slices.IndexFunc(p.fields, func(f sampled) bool { return strings.EqualFold(f.name, name) })
	}
	return exact
}

// findProducer finds the program that has written the records, from the names of their fields.
func (p *plan) findProducer() {
	records := 0
	for _, f := range p.fields {
		records = max(records, len(f.values))
	}
	told, votes := map[string]string{}, map[string]int{} // by the fields of a record
	for i := range max(1, records) {
		has, shape := map[string]bool{}, []byte(nil)
		for _, f := range p.fields {
			if records == 0 || i < len(f.values) && f.values[i] != nil {
				has[keyOf(f.name)] = true
				shape = append(append(shape, f.name...), '\n')
			}
		}
		producer, ok := told[string(shape)]
		if !ok {
			producer = producerOf(has)
			told[string(shape)] = producer
		}
		if votes[producer]++; producer != "" && (p.producer == "" || votes[producer] > votes[p.producer]) {
			p.producer = producer
		}
	}
	for other := range votes {
		if other != "" && other != p.producer {
			p.mixed = max(p.mixed, other)
		}
	}
}

// settleHost keeps only fields that name the site. A field called host is the client if all its values are addresses
// and no other field is the client. It is the machine that wrote the log if there are fields of log shippers.
func (p *plan) settleHost(clientNamed bool) {
	passedOn := slices.ContainsFunc(p.fields, func(f sampled) bool {
		return strings.HasPrefix(f.name, "agent.") || strings.HasPrefix(f.name, "ecs.") || slices.Contains([]string{"source_type", "MESSAGE", "@timestamp"}, f.name)
	})
	p.of[roleHost] = slices.DeleteFunc(p.of[roleHost], func(h pick) bool {
		key := keyOf(h.name)
		if key == "host" && !clientNamed && p.of[roleClient] == nil && most(p.values(h), isAddress) {
			p.of[roleClient] = []pick{h}
			return true
		}
		return h.fit == unfit || h.group > 0 && passedOn && (key == "host" || key == "hostname")
	})
}

// settleClient combines the fields for the client: if there is none, those that a proxy has forwarded, and then the
// peer of the connection.
func (p *plan) settleClient() {
	isUnfit := func(c pick) bool { return c.fit == unfit }
	p.of[roleClient] = slices.DeleteFunc(p.of[roleClient], isUnfit)
	for _, r := range []role{roleForwarded, rolePeer} {
		if p.of[r] = slices.DeleteFunc(p.of[r], isUnfit); len(p.of[roleClient]) == 0 || p.of[roleClient][0].role == roleForwarded && r == rolePeer {
			p.of[roleClient] = append(p.of[roleClient], p.of[r]...)
		}
	}
}

// settleAgents treats User-Agents as percent-encoded if they have escaped spaces, and no others.
func (p *plan) settleAgents() {
	for i := range p.of[roleAgent] {
		a := &p.of[roleAgent][i]
		if values := p.values(*a); a.unit == "" && most(values, func(v []byte) bool { return bytes.Contains(v, []byte("%20")) }) && !slices.ContainsFunc(values, HasBlank) {
			a.unit = codes[percentCode]
		}
	}
}

// settleTime combines the fields for the time: times, dates with their clock, times of the log itself, and dates.
func (p *plan) settleTime() {
	var lists [6][]pick
	for _, r := range []role{roleTime, roleDate, roleLogTime} {
		for _, t := range p.of[r] {
			values, list := p.values(t), 0
			isDay := r == roleDate || most(values, isDay)
			if isDay {
				t.with = p.clockOf(t.name)
			}
			switch {
			case isDay && t.with >= 0:
				list = 1
			case t.fit == fits && isDay:
				list = 4
			case t.fit == fits && r == roleLogTime:
				list = 2
			case t.fit == unsure:
				list = 3
			case t.fit == unfit:
				list = 5
			}
			if list < 5 || !most(values, isClock) {
				lists[list] = append(lists[list], t)
			}
		}
	}
	if p.of[roleTime] = slices.Concat(lists[:5]...); p.of[roleTime] == nil {
		p.of[roleTime] = lists[5]
	}
}

// clockOf returns the index of the clock that belongs to a date, -1 if there is none.
func (p *plan) clockOf(date string) int {
	key := keyOf(date)
	for _, r := range []role{roleClock, roleTime} {
		for _, c := range p.of[r] {
			if isClock := r == roleClock && c.fit != unfit || most(p.values(c), isClock); c.at < 0 || !isClock {
				continue
			} else if keyOf(c.name) == strings.Replace(key, "date", "time", 1) || len(p.of[r]) == 1 && r == roleClock {
				return c.at
			}
		}
	}
	return -1
}

// settleTarget combines the fields for the URL, and decides which of them are joined with a query: paths, and URLs that
// never have one.
func (p *plan) settleTarget() {
	targets := slices.Concat(p.of[roleURL], p.of[roleRequest], p.of[rolePath])
	slices.SortStableFunc(targets, byRank)
	ranking := slices.ContainsFunc(p.fields, func(f sampled) bool {
		return slices.Contains([]string{"clicks", "impressions", "ctr", "position"}, keyOf(f.name))
	})
	isPlain := func(q pick) bool { return keyOf(q.name) == "query" && q.group > 0 }
	p.of[roleQuery] = slices.DeleteFunc(p.of[roleQuery], func(q pick) bool {
		return q.fit == unfit || isPlain(q) && (ranking || fitAll(p.values(q), valuesOf[roleQuery]) == unfit)
	})
	for i := range targets {
		t := &targets[i]
		values := p.values(*t)
		whole, paths := holds(values)
		switch plain := slices.ContainsFunc(p.of[roleQuery], isPlain); {
		case whole && plain:
		case t.role == rolePath:
			t.join = true
		case t.fit == fits && paths && !whole && len(p.of[roleQuery]) > 0: // it may be a path
			t.join = most(p.values(p.of[roleQuery][0]), isPair) &&
				!slices.ContainsFunc(values, func(v []byte) bool { return bytes.IndexByte(v, '?') >= 0 || HasBlank(v) })
		}
	}
	p.of[roleURL], p.of[roleRequest], p.of[rolePath] = targets, nil, nil
}

// byRank compares fields of a list.
func byRank(a, b pick) int {
	classOf := func(r role) int {
		return slices.Index([]role{roleURL, roleRequest, rolePath, roleTime, roleLogTime, roleDate}, r)
	}
	return cmp.Or(cmp.Compare(b.fit, a.fit), cmp.Compare(a.group, b.group), cmp.Compare(classOf(a.role), classOf(b.role)), cmp.Compare(a.rank, b.rank))
}

// addGeneral appends fields that later records may have: first those of the producer, then those of any program, and
// then names of other producers that always have the same role.
func (p *plan) addGeneral(opt *Options) {
	here := map[string]bool{}
	for _, f := range p.fields {
		here[keyOf(f.name)] = true
	}
	var of [numRoles][]pick
	for i := range fieldTable().all {
		e := &fieldTable().all[i]
		list, group := e.role, 1
		switch {
		case e.role.isTarget():
			list = roleURL
		case e.role == roleDate, e.role == roleLogTime:
			list = roleTime
		}
		if e.producer == p.producer {
			group = 0
		} else if e.producer != anyProducer {
			group = 2
		}
		if here[e.key] || opt.isNamed(list) || group == 2 && !e.agreed || group > 0 && e.key == "query" {
			continue
		}
		of[list] = append(of[list], pick{name: e.name, unit: e.unit, role: e.role, at: -1, with: -1, join: e.role == rolePath, group: group, rank: e.rank})
	}
	for r, picks := range of {
		slices.SortStableFunc(picks, byRank)
		p.of[r] = append(p.of[r], picks...)
	}
}

// isNamed reports whether the user named a field for a role, or for a role that replaces it.
func (o *Options) isNamed(r role) bool {
	_, ok := o.Named[roleWords[r]]
	return ok || slices.ContainsFunc(replaced[r], func(other role) bool { _, ok := o.Named[roleWords[other]]; return ok })
}

// targets returns the fields that the user named for the URL.
func (o *Options) targets() map[string]string {
	named := map[string]string{}
	for _, r := range append(replaced[roleURL], roleURL) {
		if name, ok := o.Named[roleWords[r]]; ok {
			named[roleWords[r]] = name
		}
	}
	return named
}

// fitAll reports whether 9 of 10 non-empty values match.
func fitAll(values [][]byte, isFit func([]byte) bool) fit { return fitShare(values, isFit, 9, 10) }

// most reports whether 9 of 10 non-empty values match, and there is at least one.
func most(values [][]byte, isFit func([]byte) bool) bool { return fitAll(values, isFit) == fits }

// fitShare reports whether at least some/of of the non-empty values match; unsure if all are empty.
func fitShare(values [][]byte, isFit func([]byte) bool, some, of int) fit {
	all, fit := 0, 0
	for _, value := range values {
		if value = trimBlank(value); len(present(value)) == 0 {
			continue
		}
		if all++; isFit(value) {
			fit++
		}
	}
	switch {
	case all == 0:
		return unsure
	case of*fit >= some*all:
		return fits
	}
	return unfit
}

// fitOf reports whether the sampled values of a field match a role. For the host and the query, half of the values are enough,
// because scanners request anything; all other roles need every value. A field for URLs is unfit if it has no paths, or
// contains templates or names of log files, unless all values are empty.
func fitOf(r role, values [][]byte) fit {
	isFit := valuesOf[r]
	if isFit == nil {
		isFit = func([]byte) bool { return true }
	}
	if _, paths := holds(values); r.isTarget() && (!paths || isTemplate(values) || isFile(values)) {
		return -fitAll(values, isFit)
	} else if r == roleHost || r == roleQuery {
		return fitShare(values, isFit, 1, 2)
	}
	return fitAll(values, isFit)
}

// valuesOf holds the tests of whether a value matches a role. Roles without a test may have any values.
var valuesOf = [numRoles]func(value []byte) bool{
	roleStatus: isStatus, roleTime: isMoment, roleLogTime: isMoment, roleDate: isDay, roleClock: isClock, roleAgent: hasLetter,
	roleHost: isSite, roleQuery: func(v []byte) bool {
		return !HasBlank(v) && !isAddress(v) && !bytes.HasPrefix(v, []byte("X-AzureApplicationGateway-"))
	},
	roleClient: isClient, roleForwarded: isClient, rolePeer: isClient,
	rolePort:  func(v []byte) bool { n := number(v); return n > 0 && n < 10_000 }, // clients use higher ports
	roleBytes: func(v []byte) bool { return len(bytes.Trim(v, "0123456789")) == 0 || v[0] == '+' },
}

// isStatus reports whether a value is a status: three digits, or a placeholder.
func isStatus(value []byte) bool {
	return len(value) == 3 && number(value) >= 100 || string(value) == "0" || string(value) == "000" || string(value) == "-1"
}

// isMoment reports whether a value is a time. There are no logs from before 1990, and small numbers are durations.
func isMoment(value []byte) bool { return ParseTime(value) >= leastMoment }

// isDay reports whether a value is a date like 2026-01-31.
func isDay(value []byte) bool { return len(value) == 10 && isMoment(value) && value[4] == '-' }

// isClock reports whether a value is a time of day like 18:00:00.
func isClock(value []byte) bool {
	return len(value) >= 8 && value[2] == ':' && value[5] == ':' && number(value[:2]) >= 0 && number(value[3:5]) >= 0
}

// isBare reports whether a value may be a path, with or without its leading slash.
func isBare(value []byte) bool { return !HasBlank(value) && !isURL(value) }

// isPair reports whether a value may be a query.
func isPair(value []byte) bool { return value[0] == '?' || bytes.IndexByte(value, '=') > 0 }

// isClient reports whether a value may be a client: words separated by commas.
func isClient(value []byte) bool {
	return !HasBlank(bytes.ReplaceAll(value, []byte(", "), []byte{','}))
}

// isSite reports whether a value may be the host of a site: a name with a dot, an address or localhost, but not a name
// made from an address.
func isSite(value []byte) bool {
	if HasBlank(value) || bytes.ContainsAny(value, "/*~") || bytes.HasPrefix(value, []byte("ip-")) {
		return false
	}
	name, _, _ := bytes.Cut(value, []byte{':'})
	return bytes.IndexByte(value, '.') >= 0 || bytes.Count(value, []byte{':'}) > 1 || string(name) == "localhost"
}

// hasLetter reports whether a value has a letter, as all User-Agents do.
func hasLetter(value []byte) bool {
	for _, b := range value {
		if 'a' <= b|0x20 && b|0x20 <= 'z' {
			return true
		}
	}
	return false
}

// isTemplate reports whether values are patterns of paths, such as /users/{id}.
func isTemplate(values [][]byte) bool {
	return most(values, func(v []byte) bool {
		return v[0] == '/' && (bytes.IndexByte(v, '{') >= 0 || bytes.Contains(v, []byte("/:")))
	})
}

// isFile reports whether all values are the same name of a log file.
func isFile(values [][]byte) bool {
	return len(values) > 1 && most(values, func(v []byte) bool {
		return bytes.Equal(v, values[0]) && (bytes.HasSuffix(v, []byte(".log")) || bytes.HasSuffix(v, []byte(".json")))
	})
}

// holds reports whether most non-empty values are URLs, and whether most of them are URLs, paths or request lines.
func holds(values [][]byte) (urls, paths bool) {
	var all, whole, relative int
	for _, value := range values {
		if value = trimBlank(value); len(value) == 0 {
			continue
		}
		all++
		method, target, protocol := splitRequest(value)
		switch {
		case isURL(value):
			whole++
		case value[0] == '/', method != nil && (protocol != nil || bytes.HasPrefix(target, []byte{'/'}) && !HasBlank(target)): // not free text
			relative++
		}
	}
	return 2*whole > all, 2*(whole+relative) > all
}

// Wanted returns the names of all fields that a parser with these options may search for.
func Wanted(opt Options) (names []string) {
	for _, e := range fieldTable().all {
		names = append(names, e.name)
	}
	return slices.AppendSeq(append(names, opt.Keep...), maps.Values(opt.Named))
}
