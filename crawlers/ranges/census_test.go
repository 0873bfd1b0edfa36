package ranges

import (
	"fmt"
	"net/netip"
	"testing"
)

// TestCensus holds from when on a field is doubtful.
func TestCensus(t *testing.T) {
	operators := []string{"Google", "Microsoft", "OpenAI"}
	for _, c := range []struct {
		about      string
		requests   int
		field      func(i int) string
		operators  int
		proxied    bool
		anonymised bool
	}{
		{"clients of many networks", 1000, func(i int) string { return fmt.Sprintf("66.%d.%d.%d", i%200, i%250, 1+i%250) }, 3, false, false},
		{"a proxy within the site", 1000, func(int) string { return "10.0.0.1" }, 3, true, false},
		{"no field", 1000, func(int) string { return "-" }, 3, true, false},
		{"the same, few requests", 99, func(int) string { return "10.0.0.1" }, 3, false, false},
		{"a network of a proxy", 1000, func(i int) string { return fmt.Sprintf("173.245.48.%d", 1+i%250) }, 3, true, false},
		{"a network of one operator", 1000, func(i int) string { return fmt.Sprintf("66.249.64.%d", 1+i%250) }, 1, false, false},
		{"a network of two", 1000, func(i int) string { return fmt.Sprintf("66.249.64.%d", 1+i%250) }, 2, false, false},
		{"half of them", 1000, func(i int) string { return fmt.Sprintf("66.%d.64.1", (i%2)*(1+i%250)) }, 3, true, false},
		{"a proxy of IPv6", 1000, func(i int) string { return fmt.Sprintf("2a06:98c0:3600:%x::1", i) }, 3, true, false},
		{"without the last number", 1000, func(i int) string { return fmt.Sprintf("66.%d.%d.0", i%200, i%250) }, 3, false, true},
		{"with a letter in its place", 1000, func(i int) string { return fmt.Sprintf("66.%d.%d.x", i%200, i%250) }, 3, true, true},
		{"IPv6 without its end", 1000, func(i int) string { return fmt.Sprintf("2001:%x::", 0x4860+i%200) }, 3, false, true},
	} {
		var census Census
		for i := range c.requests {
			field := []byte(c.field(i))
			census.AddRequest(field, ParseAddress(field), operators[i/2%c.operators])
		}
		network, proxied := census.Proxied()
		if proxied != c.proxied || census.Anonymised() != c.anonymised {
			t.Errorf("%s: proxied %v by %v, anonymised %v", c.about, proxied, network, census.Anonymised())
		}
	}
	var census Census
	for i := range maxNetworks + 1000 {
		addr := netip.AddrFrom4([4]byte{byte(1 + i>>16), byte(i >> 8), byte(i), 1})
		census.AddRequest([]byte(addr.String()), addr, "Google")
	}
	if len(census.networks) > maxNetworks {
		t.Errorf("%d networks", len(census.networks))
	}
}
