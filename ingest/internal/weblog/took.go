package weblog

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// A Took says which fields of a log are read.
type Took struct {
	Producer string   // the program that has written the log, "" if unknown
	Fields   []string // as in "url = uri + args"
	Unread   []string // fields that are not read, some with a reason
	Left     []Left   // fields that are not read, although they may have a missing role
	Mixed    string   // another producer, of other lines
	DayOnly  string   // the time field, if it has only dates
	Proxied  string   // another field with public client addresses, if the field that is read has only private ones
}

// A Left is a field that is not read, although a role lacks its values. Field is "" if only Pattern can read it, or if
// no such field was found.
type Left struct{ Role, Field, Value, Pattern string }

// shownFields is the maximum number of fields that are listed for a role, or as not read.
const shownFields = 12

// took describes which fields of the sample are read.
func (p *plan) took(opt *Options) *Took {
	t := &Took{Producer: p.producer}
	used := map[int]bool{}
	for _, r := range []role{roleQuery, roleScheme, rolePort, roleMethod, roleProtocol, roleBytes, roleReferer, roleUser} {
		if r == roleQuery && !slices.ContainsFunc(p.of[roleURL], func(t pick) bool { return t.join }) {
			continue
		}
		for _, f := range p.of[r] { // known, although not requested
			used[f.at] = used[f.at] || f.fit != unfit
		}
	}
	for _, r := range []role{roleURL, roleHost, roleClient, roleTime, roleAgent, roleStatus} {
		var names []string
		for _, f := range p.of[r] {
			if f.at < 0 {
				continue
			}
			name := shortName(f.name)
			used[f.at] = true
			switch {
			case f.with >= 0:
				used[f.with] = true
				name += " + " + p.fields[f.with].name
			case f.join && len(p.of[roleQuery]) > 0 && p.of[roleQuery][0].at >= 0:
				name += " + " + p.of[roleQuery][0].name
			}
			switch f.unit {
			case "":
			case "decoded":
				name += " (decoded: log $request_uri)"
			default:
				name += " (" + f.unit + ")"
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if r == roleHost && len(names) == 0 && opt.Base != "" && !p.areWhole() {
			names = []string{"-base"}
		}
		if len(names) > 0 {
			t.Fields = append(t.Fields, roleWords[r]+" = "+strings.Join(names[:min(len(names), shownFields)], " or "))
		}
	}
	t.Left, t.Mixed = p.left(opt, used), p.mixed
	if times := p.of[roleTime]; len(times) > 0 && times[0].with < 0 && most(p.values(times[0]), isDay) {
		t.DayOnly = times[0].name
	}
	if clients := p.of[roleClient]; len(clients) > 0 && clients[0].role == roleClient && !opt.isNamed(roleClient) {
		isNear := most(p.values(clients[0]), isPrivate)
		for _, f := range slices.Concat(p.of[roleForwarded], p.of[roleUser]) { // users are not named by addresses
			if (isNear || f.role == roleUser) && most(p.values(f), isPublic) {
				t.Proxied = f.name
			}
		}
	}
	for i, f := range p.fields {
		if rows := entriesOf(f.name, p.producer); !used[i] && f.name != "ident" && !slices.Contains(opt.Keep, f.name) {
			t.Unread = append(t.Unread, shortName(f.name)+p.reason(i, rows))
		}
	}
	if n := len(t.Unread) - shownFields; n > 0 {
		t.Unread = append(t.Unread[:shownFields], fmt.Sprintf("and %d more", n))
	}
	return t
}

// areWhole reports whether the targets are whole URLs, possibly in request lines.
func (p *plan) areWhole() bool {
	return len(p.of[roleURL]) > 0 && most(p.values(p.of[roleURL][0]), func(v []byte) bool {
		_, target, _ := splitRequest(v)
		return isURL(v) || isURL(target)
	})
}

// Sample describes the fields of the pattern that matches most lines, and the fields after them that are not read.
func (l *lineLog) Sample(lines [][]byte) Choice {
	rows, behind := make([][][][]byte, len(l.patterns)), make([][][]byte, len(l.patterns))
	for _, line := range lines {
		for i, shape := range l.shapes {
			p := *shape
			p.last = len(p.fields)
			if n, result := p.split(line, l.fields[:], false); result == IsRow && n > 0 {
				rows[i] = append(rows[i], slices.Clone(l.fields[:n]))
				last := l.fields[n-1] // its capacity shows where it ends in the line
				if rest := bytes.Trim(line[min(len(line), cap(line)-cap(last)+len(last)):], "\"] "); len(rest) > 0 {
					behind[i] = append(behind[i], rest)
				}
				break
			}
		}
	}
	best, n := 0, 0
	for i := range rows {
		if len(rows[i]) > len(rows[best]) {
			best = i
		}
	}
	for _, row := range rows[best] {
		n = max(n, len(row))
	}
	p := *l.patterns[best].plan
	p.of[roleURL] = p.of[roleURL][:min(1, len(p.of[roleURL]))] // nearly all rows have it
	if n > 0 {
		p.fields = slices.Clone(p.fields[:n])
		for r := range p.of {
			p.of[r] = slices.DeleteFunc(slices.Clone(p.of[r]), func(one pick) bool { return one.at >= n })
		}
	}
	for i := range p.fields {
		for _, row := range rows[best] {
			p.fields[i].values = append(p.fields[i].values, at(row, i))
		}
	}
	for i := range p.of[roleReferer] { // it may be swapped with the User-Agent
		referer := &p.of[roleReferer][i]
		if most(p.values(*referer), isAgent) {
			referer.fit = unfit
			for k := range p.of[roleAgent] {
				if agent := &p.of[roleAgent][k]; !slices.ContainsFunc(p.values(*agent), isAgent) {
					agent.fit = unfit
				}
			}
		}
	}
	// Users and forwarded addresses are only listed as not read if all lines have a host there.
	p.of[roleUser] = slices.Concat(p.of[roleUser], p.of[roleForwarded])
	for i := range p.of[roleUser] {
		if user := &p.of[roleUser][i]; len(lines) > 0 && !slices.ContainsFunc(p.values(*user), func(v []byte) bool { return !isHostName(v) }) {
			user.fit = unfit
		}
	}
	took := p.took(&l.opt)
	if rests := behind[best]; rests != nil {
		took.Unread = append(took.Unread, fmt.Sprintf("what follows them (%s)", shortName(string(rests[len(rests)-1]))))
		lacks := slices.DeleteFunc(p.lacks(&l.opt), func(l lack) bool {
			isFit := func(v []byte) bool { return l.fit(v) || l.role == roleAgent && isAgent(v) }
			isHere := slices.ContainsFunc(rests, func(rest []byte) bool {
				return slices.ContainsFunc(bytes.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" =\"[](){}", r) }), isFit)
			})
			return !isHere || slices.ContainsFunc(took.Left, func(have Left) bool { return have.Role == roleWords[l.role] })
		})
		if len(lacks) > 0 { // guessing takes a millisecond
			read := guess(lines)
			for _, lack := range lacks {
				if left := read.leftOf(lack.role); left.Pattern != "" {
					took.Left = append(took.Left, left)
				}
			}
		}
	}
	return Choice{Took: took}
}

// reason returns why a field is not read; "" if its name is unknown, or it can only be kept.
func (p *plan) reason(field int, rows []*entry) string {
	for _, e := range rows {
		for _, value := range p.fields[field].values {
			if value = bytes.TrimSpace(value); present(value) == nil {
				continue
			}
			switch {
			case e.role == roleHost:
				return fmt.Sprintf(" (a machine: %s)", shortName(string(value)))
			case e.role >= rolePeer || fitOf(e.role, p.fields[field].values) == unfit:
				return fmt.Sprintf(" (%s: %s)", roleWords[e.role], shortName(string(value)))
			}
		}
	}
	return ""
}

// A lack is a requested role without a field in the log. Its test reports whether a value could have that role.
type lack struct {
	role role
	fit  func(v []byte) bool
}

// lacks returns what the log lacks.
func (p *plan) lacks(opt *Options) []lack {
	target := func(is func(v []byte) bool) bool {
		return slices.ContainsFunc(p.of[roleURL], func(t pick) bool { return slices.ContainsFunc(p.values(t), is) })
	}
	has := func(r role) bool {
		return opt.isNamed(r) || slices.ContainsFunc(p.of[r], func(f pick) bool { return f.at >= 0 && f.fit != unfit })
	}
	isWhole := p.areWhole() || target(isURL)
	pathOnly := len(p.of[roleURL]) > 0 && !isWhole && !has(roleHost)
	var all []lack
	add := func(r role, lacks bool, fit func(v []byte) bool) {
		if lacks {
			all = append(all, lack{r, fit})
		}
	}
	kept := func(name string) bool { return slices.Contains(opt.Keep, name) && !opt.MayLack(name) }
	add(roleURL, pathOnly && !opt.isNamed(roleURL), isURL)
	add(roleQuery, !has(roleQuery) && !opt.isNamed(roleURL) && !isWhole && !target(func(v []byte) bool { return bytes.IndexByte(v, '?') >= 0 }), isForm)
	add(roleHost, pathOnly, func(v []byte) bool { return isHostName(v) && bytes.IndexByte(v, ':') < 0 })
	add(roleTime, opt.Times && !has(roleTime), isMoment)
	add(roleClient, (opt.Clients || kept(NameClient)) && !has(roleClient), isIP)
	add(roleBytes, kept(NameBytes) && !has(roleBytes), func([]byte) bool { return false }) // any number matches
	add(roleAgent, opt.Agents && !has(roleAgent), func(v []byte) bool {
		return hasMozilla(v) || bytes.Contains(v, []byte("compatible;"))
	})
	add(roleStatus, slices.Contains(opt.Keep, NameStatus) && !has(roleStatus), isCode)
	return all
}

// left returns unread fields that may have the roles that the log lacks.
func (p *plan) left(opt *Options, used map[int]bool) (left []Left) {
	for _, lack := range p.lacks(opt) {
		n := len(left)
		for i, f := range p.fields {
			if !used[i] && most(f.values, lack.fit) && !slices.ContainsFunc(entriesOf(f.name, p.producer), func(e *entry) bool { return e.role >= rolePeer || e.role == roleReferer && lack.role != roleAgent }) &&
				(lack.role != roleURL || isOneSite(f.values)) {
				value := f.values[slices.IndexFunc(f.values, func(v []byte) bool { return present(trimBlank(v)) != nil })]
				left = append(left, Left{Role: roleWords[lack.role], Field: shortName(f.name), Value: shortName(string(value))})
				break
			}
		}
		if name := roleNames[lack.role]; n == len(left) && (lack.role == roleClient || lack.role == roleBytes) && slices.Contains(opt.Keep, name) {
			left = append(left, Left{Role: roleWords[lack.role]})
		}
	}
	return left
}

// isForm reports whether a value is a query like that of a form.
func isForm(value []byte) bool {
	for part := range bytes.SplitSeq(value, []byte{'&'}) {
		if name, _, ok := bytes.Cut(part, []byte{'='}); !ok || len(name) == 0 || HasBlank(part) || bytes.ContainsAny(name, ";,/:{") {
			return false
		}
	}
	return true
}

// isOneSite reports whether all URLs have the same origin.
func isOneSite(urls [][]byte) bool {
	site := ""
	for _, url := range urls {
		if parts := strings.SplitN(string(url), "/", 4); len(parts) > 2 {
			if site != "" && parts[2] != site {
				return false
			}
			site = parts[2]
		}
	}
	return true
}

// isPrivate reports whether a value is an address that clients on the internet cannot have.
func isPrivate(value []byte) bool {
	ip, err := netip.ParseAddr(string(cutPort(value)))
	return err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast())
}

// isPublic reports whether a value is an address that is not private, or a list that begins with one.
func isPublic(value []byte) bool {
	first := trimBlank(addressAt(value, 1))
	_, err := netip.ParseAddr(string(cutPort(first)))
	return err == nil && !isPrivate(first)
}
