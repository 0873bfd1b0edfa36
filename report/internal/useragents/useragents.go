// Package useragents counts the User-Agents of unidentified clients, and guesses which of them are crawlers. Each
// header is counted exactly, in memory or in a temporary file. Headers that look like those of crawlers are grouped
// by the word that may be the crawler's name. Package report imports it.
package useragents

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
)

// maxHeader is the maximum number of bytes of a header in memory. Longer headers are cut, and distinguished by their
// hashes.
const maxHeader = 1 << 10

// A Count is a number of requests, and of disallowed ones.
type Count struct{ Requests, Denied int64 }

// addRequests adds requests.
func (c *Count) addRequests(n int64, denied bool) {
	if c.Requests += n; denied {
		c.Denied += n
	}
}

// Counts count requests by User-Agent header. Use New. They are for one goroutine.
type Counts struct {
	// requests has, in place of a URL, the name of the crawler in lower case if there is one, a space, and the
	// header. In place of the origin it has the name with the space, so that headers with one name are adjacent.
	// Without a name the whole text is the origin, because origins are sorted by hash, which is fastest.
	requests *aggregate.Requests
	seed     uint64 // for the keys of requests, so that an attacker cannot cause collisions
	place    []byte
	none     Count // without a header
}

// New returns empty counts that take approximately the given number of bytes, with a temporary file in dir; "" means
// the system's default. Call Close in the end.
func New(memory int64, dir string) *Counts {
	return &Counts{requests: aggregate.NewRequests(memory, dir), seed: rand.Uint64()}
}

// Close removes the temporary file. Further calls do nothing.
func (c *Counts) Close() { c.requests.Close() }

// The bits of the kind of a request.
const (
	isDenied  = 1 << iota
	isSuspect // the header looks like a crawler's
	isCut     // it is longer than the kept part
)

// AddRow counts a request with the given header; "" if it has none. It does not keep header. The error is about the
// temporary file.
func (c *Counts) AddRow(header []byte, denied bool) error {
	if len(header) == 0 {
		c.none.addRequests(1, denied)
		return nil
	}
	key, kind := xxh3.HashSeed(header, c.seed), int32(0)
	if denied {
		key, kind = ^key, isDenied
	}
	q := c.requests.Find(key)
	if q == nil {
		var err error
		if q, err = c.addHeader(key, kind, header); err != nil {
			return err
		}
	}
	c.requests.AddRow(q, &aggregate.RowCounts{Rows: 1}, 0)
	return nil
}

// addHeader adds a header that is not in memory yet, with its kind without isSuspect and isCut.
func (c *Counts) addHeader(key uint64, kind int32, header []byte) (*aggregate.Entry, error) {
	name, is := crawlers.Suspect(header)
	if is {
		kind |= isSuspect
	}
	p := aggregate.Place{Site: engine.NoSite}
	if len(header) > maxHeader {
		kind |= isCut
		p.Variant = xxh3.Hash(header)
		header = header[:maxHeader]
	}
	c.place = append(append(appendLower(c.place[:0], name), ' '), header...)
	if p.URL, p.Prefix = c.place, len(name)+1; len(name) == 0 {
		p.Prefix = len(p.URL)
	}
	return c.requests.AddRequest(key, kind, p)
}

// appendLower appends a name with its ASCII letters in lower case.
func appendLower(dst, name []byte) []byte {
	for _, b := range name {
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		dst = append(dst, b)
	}
	return dst
}

// A Header is a User-Agent, with its number of requests.
type Header struct {
	Count
	Text string // as in the log; if truncated, with "…" at the end
}

// A Suspect is a word in User-Agents that may be the name of a crawler.
type Suspect struct {
	Count
	Name    string // as the busiest header writes it
	Headers int64  // that it was found in
	Busiest Header // of them
}

// The limits of a View.
const (
	shownHeaders  = 20
	shownSuspects = 20
)

// A View is the panel of unidentified clients.
type View struct {
	All      Count
	None     Count // without a User-Agent
	Headers  int64 // distinct ones
	Busiest  []Header
	Suspects []Suspect // the busiest
	Listed   Count     // of Suspects
	Names    int64     // of all suspects
	Named    Count     // requests of all suspects
	Unnamed  Count     // requests that look like those of crawlers, but whose header has no usable name
}

// View returns the counts. Nothing may be added afterwards. The error is about the temporary file.
func (c *Counts) View() (*View, error) {
	s := summer{view: View{None: c.none, All: c.none}, headers: aggregate.NewLargest[Header](shownHeaders), suspects: aggregate.NewLargest[Suspect](shownSuspects)}
	if err := c.requests.EachURL(s.addHeader); err != nil {
		return nil, err
	}
	s.endName()
	s.view.Busiest, s.view.Suspects = s.headers.Items(), s.suspects.Items()
	slices.SortStableFunc(s.view.Busiest, func(a, b Header) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Text, b.Text))
	})
	slices.SortStableFunc(s.view.Suspects, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
	for i := range s.view.Suspects {
		s.view.Listed.addCount(s.view.Suspects[i].Count)
	}
	return &s.view, nil
}

// addCount adds another count.
func (c *Count) addCount(o Count) {
	c.Requests += o.Requests
	c.Denied += o.Denied
}

// A summer sums headers, which it gets name by name.
type summer struct {
	view     View
	headers  *aggregate.Largest[Header]
	suspects *aggregate.Largest[Suspect]
	name     []byte // the current name, in lower case; "" if none
	suspect  Suspect
}

// addHeader adds a header with all its requests to the current name. It completes the name before if the header is of
// another one.
func (s *summer) addHeader(u *aggregate.URL) {
	name, header, _ := bytes.Cut(u.Text, []byte(" "))
	if !bytes.Equal(name, s.name) {
		s.endName()
		s.name = append(s.name[:0], name...)
	}
	h, kind := Header{}, int32(0)
	for i := range u.Requests {
		r := &u.Requests[i]
		kind = r.Kind
		h.addRequests(r.Rows, kind&isDenied != 0)
	}
	s.view.Headers++
	s.view.All.addCount(h.Count)
	tie := aggregate.Hash(header)
	isBusy := s.headers.Takes(h.Requests, tie)
	isBusiest := len(name) > 0 && h.Requests > s.suspect.Busiest.Requests
	if isBusy || isBusiest {
		if h.Text = string(header); kind&isCut != 0 {
			h.Text += "…"
		}
	}
	if isBusy {
		s.headers.AddItem(h.Requests, tie, h)
	}
	switch {
	case len(name) == 0 && kind&isSuspect != 0:
		s.view.Unnamed.addCount(h.Count)
	case len(name) > 0:
		s.suspect.Headers++
		s.suspect.addCount(h.Count)
		if isBusiest {
			s.suspect.Name, s.suspect.Busiest = spell(name, header), h
		}
	}
}

// spell returns a lower-case name in the spelling of a header.
func spell(name, header []byte) string {
	if spelt, _ := crawlers.Suspect(header); bytes.EqualFold(spelt, name) {
		return string(spelt)
	}
	return string(name) // the header was cut before it
}

// endName adds the current suspect, whose headers have all been added, if there is a name.
func (s *summer) endName() {
	if len(s.name) > 0 {
		s.view.Names++
		s.view.Named.addCount(s.suspect.Count)
		if tie := aggregate.Hash(s.name); s.suspects.Takes(s.suspect.Requests, tie) {
			s.suspects.AddItem(s.suspect.Requests, tie, s.suspect)
		}
	}
	s.suspect = Suspect{}
}

// Lines returns the suspects that the page shows as lines for a table of crawlers, see [crawlers.Add].
func (v *View) Lines() (lines []string) {
	if len(v.Suspects) == 0 {
		return nil
	}
	lines = []string{"token"}
	for i := range v.Suspects {
		lines = append(lines, v.Suspects[i].Name)
	}
	return lines
}

// More returns the number of suspects that the page does not show.
func (v *View) More() int64 { return v.Names - int64(len(v.Suspects)) }
