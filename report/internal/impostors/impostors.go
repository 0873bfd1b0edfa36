// Package impostors counts the requests of impostors by network, by the crawler name that they used, and by URL. Its
// counts are exact, in memory or in a temporary file. Package report imports it.
package impostors

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
)

// A Count is a number of requests, of disallowed ones, and of response bytes, as far as known.
type Count struct{ Requests, Denied, Bytes int64 }

// addCount adds another count.
func (c *Count) addCount(o Count) {
	c.Requests += o.Requests
	c.Denied += o.Denied
	c.Bytes += o.Bytes
}

// Counts counts requests of impostors. Use New. It is for one goroutine.
type Counts struct {
	// requests stores the network in place of a URL's origin, followed by the complete URL. The kind of a request is
	// twice the number of the crawler, plus 1 if the request is disallowed.
	requests *aggregate.Requests
	seed     uint64 // for the keys of requests, so that an attacker cannot cause collisions
	place    []byte
}

// networkBytes is the length of the network that precedes a URL in requests.
const networkBytes = 8

// New returns empty counts that take approximately the given number of bytes, with a temporary file in dir; "" means
// the system's default. Call Close in the end.
func New(memory int64, dir string) *Counts {
	return &Counts{requests: aggregate.NewRequests(memory, dir), seed: rand.Uint64()}
}

// Close removes the temporary file. Further calls do nothing.
func (c *Counts) Close() { c.requests.Close() }

// AddRow counts requests from a network for a URL with the name of a crawler, given by its number. one has either no
// disallowed requests or only those. It does not keep url. The error is about the temporary file.
func (c *Counts) AddRow(network ranges.Network, url []byte, agent int, one Count) error {
	c.place = append(binary.BigEndian.AppendUint64(c.place[:0], uint64(network)), url...)
	kind := int32(2 * agent)
	if one.Denied > 0 {
		kind++
	}
	key := xxh3.HashSeed(c.place, c.seed) + uint64(kind)*0x9E3779B97F4A7C15
	q := c.requests.Find(key)
	if q == nil {
		p := aggregate.Place{URL: c.place, Prefix: networkBytes, Site: engine.NoSite}
		if len(p.URL) > aggregate.MaxURL {
			p.URL, p.Variant = p.URL[:aggregate.MaxURL], xxh3.Hash(url)
		}
		var err error
		if q, err = c.requests.AddRequest(key, kind, p); err != nil {
			return err
		}
	}
	c.requests.AddRow(q, &aggregate.RowCounts{Rows: one.Requests, Bytes: one.Bytes}, 0)
	return nil
}

// A Name counts the requests with the name of one crawler.
type Name struct {
	Count
	Name     string
	Networks int64 // networks of these requests

	agent int
}

// A URL counts the requests for a URL.
type URL struct {
	Count
	Text string // as in the log; if truncated, with "…" at the end
}

// A Network is a network from which impostors sent requests.
type Network struct {
	Count
	Prefix    string // 192.0.2.0/24, 2001:db8::/48
	Names     []Name // most requests first; Networks is not set
	MoreNames int64
	URLs      int64 // distinct URLs
	Busiest   []URL
}

// Limits of a View.
const (
	shownNetworks = 50
	shownNames    = 5 // per network
	shownURLs     = 3 // per network
	shownTaken    = 50
)

// A View is the panel of impostors.
type View struct {
	All      Count
	Number   int64     // number of networks
	Networks []Network // the busiest ones
	Listed   Count     // sum of Networks
	Names    []Name    // all names
	Taken    []URL     // the busiest URLs over all networks
	URLs     int64     // distinct URLs over all networks
	HasBytes bool      // the log has the number of bytes
	Spilled  bool      // some requests were written to disk
}

// View returns the counts, except Taken and URLs, which the caller fills in. name returns the name of a crawler by
// its number. Nothing may be added afterwards. The error is about the temporary file.
func (c *Counts) View(name func(agent int) string) (*View, error) {
	s := summer{name: name, byName: map[int]*Name{}, networks: aggregate.NewLargest[Network](shownNetworks)}
	s.beginNetwork(0)
	if err := c.requests.EachURL(s.addURL); err != nil {
		return nil, err
	}
	s.endNetwork()
	v := &s.view
	v.Networks = s.networks.Items()
	slices.SortStableFunc(v.Networks, func(a, b Network) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Prefix, b.Prefix))
	})
	for i := range v.Networks {
		v.Listed.addCount(v.Networks[i].Count)
	}
	v.Names, v.Spilled = sortNames(s.byName), c.requests.Spilled()
	return v, nil
}

// sortNames returns the names in a list, most requests first.
func sortNames(names map[int]*Name) (all []Name) {
	for _, n := range names {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Name) int { return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.agent, b.agent)) })
	return all
}

// A summer sums requests, which it gets network by network.
type summer struct {
	name     func(agent int) string
	view     View
	byName   map[int]*Name
	networks *aggregate.Largest[Network]

	// For the current network:
	number  uint64
	network Network
	names   map[int]*Name
	busiest *aggregate.Largest[URL]
}

// beginNetwork begins the network with that number, without requests.
func (s *summer) beginNetwork(number uint64) {
	s.number, s.network, s.names, s.busiest = number, Network{}, map[int]*Name{}, aggregate.NewLargest[URL](shownURLs)
}

// addURL adds a URL with all its requests to the current network. It completes the network before if the URL is of
// another one.
func (s *summer) addURL(u *aggregate.URL) {
	if number := binary.BigEndian.Uint64(u.Text); number != s.number {
		s.endNetwork()
		s.beginNetwork(number)
	}
	url := URL{}
	for i := range u.Requests {
		r := &u.Requests[i]
		one := Count{Requests: r.Rows, Bytes: r.Bytes}
		if r.Kind%2 == 1 {
			one.Denied = r.Rows
		}
		url.addCount(one)
		agent := int(r.Kind / 2)
		if s.names[agent] == nil {
			s.names[agent] = &Name{agent: agent, Name: s.name(agent)}
		}
		s.names[agent].addCount(one)
	}
	s.network.URLs++
	s.network.addCount(url.Count)
	text := u.Text[networkBytes:]
	if tie := aggregate.Hash(text); s.busiest.Takes(url.Requests, tie) {
		url.Text = Shown(text, len(u.Text))
		s.busiest.AddItem(url.Requests, tie, url)
	}
}

// Shown returns a URL for the page, from a [aggregate.Place] of the given number of bytes.
func Shown(url []byte, size int) string {
	if size >= aggregate.MaxURL { // may be truncated
		return string(url) + "…"
	}
	return string(url)
}

// endNetwork adds the current network to the view, if it has requests.
func (s *summer) endNetwork() {
	n := &s.network
	if n.Requests == 0 {
		return
	}
	s.view.Number++
	s.view.All.addCount(n.Count)
	for agent, name := range s.names {
		sum := s.byName[agent]
		if sum == nil {
			sum = &Name{agent: agent, Name: name.Name}
			s.byName[agent] = sum
		}
		sum.addCount(name.Count)
		sum.Networks++
	}
	tie := xxh3.Hash(binary.BigEndian.AppendUint64(nil, s.number))
	if !s.networks.Takes(n.Requests, tie) {
		return
	}
	n.Prefix, n.Names = ranges.Network(s.number).Prefix().String(), sortNames(s.names)
	n.MoreNames = int64(max(0, len(n.Names)-shownNames))
	n.Names = n.Names[:min(len(n.Names), shownNames)]
	n.Busiest = s.busiest.Items()
	ByRequests(n.Busiest)
	s.networks.AddItem(n.Requests, tie, *n)
}

// ByRequests sorts URLs by number of requests, most first.
func ByRequests(urls []URL) {
	slices.SortStableFunc(urls, func(a, b URL) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Text, b.Text))
	})
}

// More returns the number of networks that the page does not show.
func (v *View) More() int64 { return v.Number - int64(len(v.Networks)) }

// NewTaken returns an empty list of the URLs that impostors requested most.
func NewTaken() *aggregate.Largest[URL] { return aggregate.NewLargest[URL](shownTaken) }
