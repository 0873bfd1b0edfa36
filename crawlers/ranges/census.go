package ranges

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
)

// A Client is the origin of a request, as far as the log contains it. The zero value is unknown.
type Client struct {
	Addr       netip.Addr // zero if the field does not contain an address
	Network    Network    // of Addr; 0 if the address is not on the internet
	Local      bool       // the address is the server itself: 127.0.0.0/8 or ::1
	Anonymised bool       // the end of the address was removed: 192.0.2.0, 192.0.2.x, 2001:db8:1::
	Text       bool       // the field contains something other than an address
	Named      bool       // the field looks like a host name
}

// ParseClient parses the log field with the client's address, see [ParseAddress]. It does not keep the field, and does
// not allocate.
func ParseClient(field []byte) Client {
	c := Client{Addr: ParseAddress(field)}
	c.Local = c.Addr.IsLoopback()
	switch { // whether the end of the address was removed
	case c.Addr.Is4():
		c.Anonymised = c.Addr.As4()[3] == 0
	case c.Addr.IsValid():
		b := c.Addr.As16()
		c.Anonymised = binary.BigEndian.Uint64(b[8:]) == 0
	default:
		end := bytes.LastIndexByte(field, '.')
		c.Anonymised = end > 0 && bytes.Count(field, []byte(".")) == 3 && len(bytes.Trim(field[end+1:], "xX*")) == 0
	}
	switch {
	case !c.Addr.IsValid():
		c.Text = len(field) > 0 && string(field) != "-"
		c.Named = c.Text && bytes.IndexByte(field, '.') > 0 && bytes.IndexByte(field, ' ') < 0
	case isGlobal(c.Addr):
		c.Network = networkOf(c.Addr)
	}
	return c
}

// A Network is a /24 of IPv4 or a /48 of IPv6, as a number. 0 means none.
type Network uint64

// network6 is the bit of a Network of IPv6, network4 the bit of one of IPv4.
const (
	network6 Network = 1 << 63
	network4 Network = 1 << 62
)

// networkOf returns the network of an address, which must not be IPv4-mapped.
func networkOf(addr netip.Addr) Network {
	if addr.Is4() {
		b := addr.As4()
		return network4 | Network(binary.BigEndian.Uint32(b[:])>>8)
	}
	b := addr.As16()
	return network6 | Network(binary.BigEndian.Uint64(b[:])>>16)
}

// Prefix returns the network in CIDR notation, or the zero Prefix for 0.
func (n Network) Prefix() netip.Prefix {
	switch {
	case n&network6 != 0:
		var b [16]byte
		binary.BigEndian.PutUint64(b[:], uint64(n)<<16)
		return netip.PrefixFrom(netip.AddrFrom16(b), 48)
	case n&network4 != 0:
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(n)<<8)
		return netip.PrefixFrom(netip.AddrFrom4(b), 24)
	}
	return netip.Prefix{}
}

// A Census counts where the requests of crawlers came from, to detect fields that contain something other than
// client addresses. The zero value is ready for use. It is for one goroutine.
type Census struct {
	requests   int64 // all requests of crawlers
	unusable   int64 // requests without a public address
	anonymised int64 // requests whose address lacks its end
	local      int64 // unusable: requests from the server itself
	texts      int64 // unusable: requests with a text that is not an address
	named      int64 // texts that look like host names

	// senders is a hash table that is at most half full. If every request comes from a new network, each waits for
	// memory once; with a map of pointers it would wait three times.
	senders  []sender
	networks int // number of networks in senders
}

// A sender is a network that sent requests of crawlers; the zero value is an empty slot.
type sender struct {
	network   Network
	requests  int64
	operators [manyOperators]uint32 // the first operators that its User-Agents named
	named     uint32                // number of operators in it
}

// slotOf returns the slot of a network, or the empty slot where it belongs; nil if the table has no slots. The slot is
// valid until the table grows.
func (c *Census) slotOf(n Network) *sender {
	if len(c.senders) == 0 {
		return nil
	}
	mask := uint64(len(c.senders) - 1)
	for i := uint64(n) * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		if s := &c.senders[i]; s.network == n || s.network == 0 {
			return s
		}
	}
}

// The thresholds above which a field is suspicious. At least minRequests requests of crawlers are needed.
const (
	minRequests   = 100
	manyOperators = 3
	// maxNetworks limits the memory to about 5 MB. A network that sends half of the requests is among the first
	// ones, unless the log was constructed to prevent it.
	maxNetworks = 1 << 16
)

// Requests are consecutive requests of crawlers from one network.
type Requests struct {
	Network    Network // 0 if the address is not public
	Operator   uint32  // operator of the named crawlers, as a number chosen by the caller
	Count      uint32
	Anonymised uint32 // requests whose address lacks its end
	Local      uint32 // requests from the server itself
	Texts      uint32 // requests with a text that is not an address
	Named      uint32 // texts that look like host names
}

// Add counts requests. After maxNetworks networks, requests from further ones count only in the sums.
func (c *Census) Add(r Requests) {
	c.requests += int64(r.Count)
	c.anonymised += int64(r.Anonymised)
	c.local += int64(r.Local)
	c.texts += int64(r.Texts)
	c.named += int64(r.Named)
	if r.Network == 0 {
		c.unusable += int64(r.Count)
		return
	}
	s := c.slotOf(r.Network)
	if s == nil || s.network == 0 {
		if c.networks >= maxNetworks {
			return
		}
		if c.networks++; 2*c.networks > len(c.senders) {
			old := c.senders
			c.senders = make([]sender, max(1<<8, 2*len(old)))
			for _, s := range old {
				if s.network != 0 {
					*c.slotOf(s.network) = s
				}
			}
		}
		s = c.slotOf(r.Network)
		s.network = r.Network
	}
	s.requests += int64(r.Count)
	if s.named < manyOperators && !slices.Contains(s.operators[:s.named], r.Operator) {
		s.operators[s.named] = r.Operator
		s.named++
	}
}

// Proxied reports whether the field seems to contain addresses of a proxy: at least half of the requests have no public
// address, or one network sends at least half and names at least three operators. In the first case the network is 0;
// if two networks send half each, it is the smaller number. It is false below 100 requests.
func (c *Census) Proxied() (Network, bool) {
	if c.requests < minRequests {
		return 0, false
	}
	if 2*c.unusable >= c.requests {
		return 0, true
	}
	var found Network
	for _, s := range c.senders { // two networks may send half each
		if s.network != 0 && 2*s.requests >= c.requests && s.named >= manyOperators && (found == 0 || s.network < found) {
			found = s.network
		}
	}
	return found, found != 0
}

// Mixed returns the number of networks that each name at least three operators, and the number of their requests. Both
// are 0 unless these requests are at least a quarter of all, and all are at least 100. Such networks belong to a proxy
// with many addresses, or to a client that uses many names.
func (c *Census) Mixed() (networks, requests int64) {
	for _, s := range c.senders {
		if s.named >= manyOperators {
			networks++
			requests += s.requests
		}
	}
	if c.requests < minRequests || 4*requests < c.requests {
		return 0, 0
	}
	return networks, requests
}

// Anonymised reports whether at least a tenth of the addresses lack their end. By chance, it would be one in 256.
func (c *Census) Anonymised() bool {
	return c.requests >= minRequests && 10*c.anonymised >= c.requests
}

// Texts returns the number of requests with a text that is not an address, if they are over a tenth of all and some
// are not host names; otherwise 0.
func (c *Census) Texts() int64 {
	if 10*c.texts <= c.requests || c.named == c.requests {
		return 0
	}
	return c.texts
}

// Requests returns the number of requests of crawlers, of those without a usable address, and of those whose
// address lacks its end.
func (c *Census) Requests() (all, unusable, anonymised int64) {
	return c.requests, c.unusable, c.anonymised
}

// Sent returns the number of requests from a network.
func (c *Census) Sent(n Network) int64 {
	if s := c.slotOf(n); s != nil {
		return s.requests
	}
	return 0
}

// Local returns the number of requests from the server itself, for example from health checks, or from a proxy on
// it. It is 0 if the field seems to contain addresses of a proxy, see Proxied and Mixed.
func (c *Census) Local() int64 {
	_, proxied := c.Proxied()
	if networks, _ := c.Mixed(); proxied || networks > 0 {
		return 0
	}
	return c.local
}
