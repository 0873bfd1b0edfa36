package ranges

import (
	"bytes"
	"net/netip"
)

// A Census counts where the requests of crawlers came from, to find fields that hold something else than
// the addresses of clients. The zero value is ready. It is for one goroutine.
type Census struct {
	requests   int64 // of crawlers
	unusable   int64 // of them, those whose address is none that a client on the internet has
	anonymised int64 // of them, those whose address lacks its end
	networks   map[netip.Prefix]*network
}

// A network is a /24 or a /48 that sent requests of crawlers.
type network struct {
	requests  int64
	operators []string // that its User-Agents named: at most manyOperators
}

// What makes a field doubtful, from leastRequests of crawlers on.
const (
	leastRequests = 100
	manyOperators = 3
	// maxNetworks bounds the memory to some 10 MB. A network that sends half of the requests is among the
	// first ones, unless a log was made against that.
	maxNetworks = 1 << 16
)

// AddRequest counts a request of a crawler: the field as the log has it, its address as [ParseAddress]
// reads it, and who runs the crawler.
func (c *Census) AddRequest(field []byte, client netip.Addr, operator string) {
	c.requests++
	if isAnonymised(field, client) {
		c.anonymised++
	}
	if !client.IsValid() || !isGlobal(client) {
		c.unusable++
		return
	}
	bits := 24
	if client.Is6() {
		bits = 48
	}
	p := netip.PrefixFrom(client, bits).Masked()
	n := c.networks[p]
	if n == nil {
		if len(c.networks) >= maxNetworks {
			return
		}
		if c.networks == nil {
			c.networks = map[netip.Prefix]*network{}
		}
		n = &network{}
		c.networks[p] = n
	}
	n.requests++
	n.addOperator(operator)
}

// addOperator notes an operator, if it is a new one.
func (n *network) addOperator(operator string) {
	if len(n.operators) >= manyOperators {
		return
	}
	for _, known := range n.operators {
		if known == operator {
			return
		}
	}
	n.operators = append(n.operators, operator)
}

// isAnonymised reports whether the end of an address was taken away: 192.0.2.0, 192.0.2.x, 2001:db8:1::.
func isAnonymised(field []byte, client netip.Addr) bool {
	if !client.IsValid() {
		end := bytes.LastIndexByte(field, '.')
		return end > 0 && bytes.Count(field, []byte(".")) == 3 && len(bytes.Trim(field[end+1:], "xX*")) == 0
	}
	if client.Is4() {
		return client.As4()[3] == 0
	}
	b := client.As16()
	return bytes.Count(b[8:], []byte{0}) == 8
}

// Proxied reports whether the field seems to hold the addresses of a proxy: half or more of them are none
// of the internet, or one network sends half or more and names three operators or more. The network is
// the zero Prefix in the first case.
func (c *Census) Proxied() (netip.Prefix, bool) {
	if c.requests < leastRequests {
		return netip.Prefix{}, false
	}
	if 2*c.unusable >= c.requests {
		return netip.Prefix{}, true
	}
	for p, n := range c.networks {
		if 2*n.requests >= c.requests && len(n.operators) >= manyOperators {
			return p, true
		}
	}
	return netip.Prefix{}, false
}

// Anonymised reports whether half or more of the addresses lack their end.
func (c *Census) Anonymised() bool {
	return c.requests >= leastRequests && 2*c.anonymised >= c.requests
}

// Requests returns how many requests of crawlers were counted, and how many of them had no usable address.
func (c *Census) Requests() (all, unusable int64) { return c.requests, c.unusable }
