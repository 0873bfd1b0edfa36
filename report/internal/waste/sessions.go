package waste

import (
	"bytes"
	"slices"
)

// sessionNames are the names that parameters of sessions have. The first ones have no other meaning; the others are of a
// session where their values look like ids.
var sessionNames = newNameSet("jsessionid", "phpsessid", "sessionid", "session_id", "oscsid", "zenid", "cftoken", "cfid", "xtcsid", "sid", "session", "sessid", aspSession)

// aspSession is the name of those that ASP.NET writes into paths, as in /(S(lit3py55t21z5v55vlm25s55))/.
const aspSession = "(s("

// sureNames is how many of sessionNames mean nothing else.
const sureNames = 9

// sessionName returns the number of the name of a session; -1 if it is none.
func sessionName(name []byte) int {
	const long = "aspsessionid" // and eight letters
	if len(name) == len(long)+8 && bytes.EqualFold(name[:len(long)], []byte(long)) {
		return 0
	}
	return sessionNames.find(name)
}

// A nameSet is some names, in small letters, each with a number.
type nameSet struct {
	all     [][]byte
	letters [maxName + 1]uint32 // of the first bytes of those that have so many
}

// newNameSet returns a nameSet.
func newNameSet(all ...string) *nameSet {
	n := new(nameSet)
	for _, name := range all {
		n.all = append(n.all, []byte(name))
		n.letters[len(name)] |= 1 << (name[0] & 31)
	}
	return n
}

// find returns the number of a name, -1 if it is none of them.
func (n *nameSet) find(name []byte) int {
	if len(name) == 0 || len(name) > maxName || n.letters[len(name)]>>(name[0]&31)&1 == 0 {
		return -1
	}
	return slices.IndexFunc(n.all, func(known []byte) bool { return len(known) == len(name) && bytes.EqualFold(known, name) })
}

// sessions count the URLs of a site that have ids of sessions in parameters of the query, or behind a ";" of the path.
type sessions struct {
	all []*session // by number of the name; nil was not seen
}

// A session is the URLs that have a name.
type session struct {
	tally
	ids     groups           // of who asked for each: a crawler, or others
	pages   map[uint64]bool  // the same URLs without an id, at most leastPages
	spelled map[string]int64 // requests, by the name as it is written, with ";" before it in a path
	seps    seps
}

// take counts a URL, and reports whether it has an id.
func (s *sessions) take(v *Visit, u *parts) bool {
	n, name, id := sessionOf(u.path, u.pairs)
	if n >= 0 {
		s.addID(v, n, string(name), id)
		s.all[n].seps |= u.seps
		s.all[n].addPage(u)
	}
	return n >= 0
}

// sessionOf returns the number of the name of a session in a URL, the name with ";" before it in a path, and the
// id; -1 if the URL has none.
func sessionOf(path []byte, pairs []pair) (number int, name, id []byte) {
	if i := bytes.IndexByte(path, ';'); i >= 0 {
		name, value, _ := bytes.Cut(path[i+1:], []byte("="))
		value, _, _ = bytes.Cut(value, []byte("/"))
		if n := sessionName(name); n >= 0 && isID(n, value) {
			return n, path[i:][:1+len(name)], value
		}
	}
	if name, id = aspID(path); id != nil {
		return sessionNames.find([]byte(aspSession)), name, id
	}
	for i := range pairs {
		if n := sessionName(pairs[i].name); n >= 0 && isID(n, pairs[i].value) {
			return n, pairs[i].name, pairs[i].value
		}
	}
	return -1, nil, nil
}

// aspID returns the id that ASP.NET wrote into a path, and the beginning of its segment; nil if there is none. Such a segment has
// parts as (X(1)S(id)), and one of them is long.
func aspID(path []byte) (name, id []byte) {
	for from := bytes.Index(path, []byte("/(")); from >= 0; {
		segment, _, _ := bytes.Cut(path[from+1:], []byte("/"))
		if bytes.HasSuffix(segment, []byte("))")) {
			for at := 1; at+2 < len(segment) && segment[at] >= 'A' && segment[at] <= 'Z' && segment[at+1] == '('; {
				end := bytes.IndexByte(segment[at:], ')')
				if id = segment[at+2 : at+end]; len(id) >= leastToken && bytes.IndexFunc(id, isNoName) < 0 {
					return segment[:at+2], id
				}
				at += end + 1
			}
		}
		next := bytes.Index(path[from+2:], []byte("/("))
		if next < 0 {
			break
		}
		from += 2 + next
	}
	return nil, nil
}

// isID reports whether a value of a name is an id of a session.
func isID(name int, value []byte) bool {
	return name < sureNames && len(value) >= 6 || len(value) >= leastToken && isToken(value)
}

// addID counts a URL by the number of its name.
func (s *sessions) addID(v *Visit, n int, spelled string, id []byte) {
	if s.all == nil {
		s.all = make([]*session, len(sessionNames.all))
	}
	if s.all[n] == nil {
		s.all[n] = &session{pages: map[uint64]bool{}}
	}
	one, hash := s.all[n], hashOf(id)
	one.addVisit(v)
	for _, by := range v.Spent {
		one.ids.addMember(hash, uint64(by.Crawler))
	}
	if v.Others > 0 {
		one.ids.addMember(hash, ofOthers)
	}
	countName(&one.spelled, spelled, v.requests())
}

// ofOthers stands for all clients that are no crawlers.
const ofOthers = 1 << 32

// addPage counts the page of a URL that has an id: the path before a semicolon, and the parameters that are of no session.
func (s *session) addPage(u *parts) {
	if len(s.pages) == leastPages {
		return
	}
	path, _, _ := bytes.Cut(u.path, []byte(";"))
	page := hashOf(path)
	for i := range u.pairs {
		if p := &u.pairs[i]; sessionName(p.name) < 0 {
			page = (page^hashOf(p.name))*0x9E3779B97F4A7C15 + hashOf(p.value)
		}
	}
	s.pages[page] = true
}

// isOne reports whether its ids are those of sessions: each visitor gets others, on all pages. Ids that several crawlers or
// people ask for are things, and those of few pages, too.
func (s *session) isOne() bool {
	found, members, all := s.ids.large(2)
	shared := int64(len(found)) << s.ids.zeros
	ids := all - members + shared
	return s.urls >= leastURLs && len(s.pages) == leastPages && ids >= leastIDs && mostShared*shared <= ids
}

// end returns the spaces, and empties the finder.
func (s *sessions) end() (found []*Space) {
	for n, one := range s.all {
		if one == nil || !one.isOne() {
			continue
		}
		names, rules := frequent(one.spelled, 4), []string(nil)
		for i, name := range names {
			switch name[0] {
			case ';':
				names[i] = name[1:]
				rules = append(rules, "Disallow: /*"+name+"=")
			case '(':
				rules = append(rules, "Disallow: /*"+name)
			default:
				rules = append(rules, (&Parameter{Name: name, seps: one.seps}).Rules()...)
			}
		}
		space := one.space(Sessions, names, rules)
		space.InQuery, space.session = true, 1<<n
		found = append(found, space)
	}
	s.all = nil
	return found
}

// leastToken is how many bytes a text has at least that looks like an id.
const leastToken = 16

// isToken reports whether a text looks like one that a program drew: hexadecimal digits, or letters of both cases and digits,
// that change often.
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
	if hex == digits+letters && len(text)-hex <= 4 {
		return digits >= 3 && letters >= 2 && (upper == 0 || lower == 0)
	}
	return digits >= 3 && len(text)-digits-letters <= 4 && changes*5 >= len(text) && (upper >= 3 && lower >= 3 || digits*8 >= len(text))
}
