package ranges

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// partly returns the address of request i: from one of ten networks if i is below n, otherwise from its own network.
func partly(n int) func(i int) string {
	return func(i int) string {
		if i < n {
			return fmt.Sprintf("172.70.%d.1", i%10)
		}
		return fmt.Sprintf("66.%d.%d.1", i/250, i%250)
	}
}

// halves returns the address of request i: field for 500 requests, otherwise from its own network.
func halves(field string) func(i int) string {
	return func(i int) string {
		if i < 500 {
			return field
		}
		return fmt.Sprintf("66.%d.%d.1", i/250, i%250)
	}
}

// tenths returns the address of request i: it ends in 0 if i is below n, and is otherwise from its own network.
func tenths(n int) func(i int) string {
	return func(i int) string {
		if i < n {
			return fmt.Sprintf("67.1.%d.0", i)
		}
		return fmt.Sprintf("66.%d.%d.1", i/250, i%250)
	}
}

// TestCensus checks the thresholds for suspicious fields.
func TestCensus(t *testing.T) {
	for _, c := range []struct {
		about      string
		requests   int
		field      func(i int) string
		operators  int
		proxied    bool
		mixed      int64
		anonymised bool
	}{
		{"clients of many networks", 1000, func(i int) string { return fmt.Sprintf("66.%d.%d.%d", i%200, i%250, 1+i%250) }, 3, false, 0, false},
		{"a proxy within the site", 1000, func(int) string { return "10.0.0.1" }, 3, true, 0, false},
		{"no field", 1000, func(int) string { return "-" }, 3, true, 0, false},
		{"the same, few requests", 99, func(int) string { return "10.0.0.1" }, 3, false, 0, false},
		{"half without an address", 1000, halves("-"), 3, true, 0, false},
		{"less than half", 1001, halves("-"), 3, false, 0, false},
		{"as many as are enough", 100, func(int) string { return "10.0.0.1" }, 3, true, 0, false},
		{"a tenth without their ends", 1000, tenths(100), 3, false, 0, true},
		{"less than a tenth", 1000, tenths(99), 3, false, 0, false},
		{"a network of a proxy", 1000, func(i int) string { return fmt.Sprintf("173.245.48.%d", 1+i%250) }, 3, true, 1, false},
		{"a network of one operator", 1000, func(i int) string { return fmt.Sprintf("66.249.64.%d", 1+i%250) }, 1, false, 0, false},
		{"a network of two", 1000, func(i int) string { return fmt.Sprintf("66.249.64.%d", 1+i%250) }, 2, false, 0, false},
		{"half of them", 1000, func(i int) string { return fmt.Sprintf("66.%d.64.1", (i%2)*(1+i%250)) }, 3, true, 126, false},
		{"a proxy of IPv6", 1000, func(i int) string { return fmt.Sprintf("2a06:98c0:3600:%x::1", i) }, 3, true, 1, false},
		{"networks of a proxy", 1000, func(i int) string { return fmt.Sprintf("172.70.%d.%d", i/6%20, 1+i%250) }, 3, false, 20, false},
		{"a quarter of them", 1000, partly(250), 3, false, 10, false},
		{"less", 1000, partly(249), 3, false, 0, false},
		{"without the last number", 1000, func(i int) string { return fmt.Sprintf("66.%d.%d.0", i%200, i%250) }, 3, false, 0, true},
		{"with a letter in its place", 1000, func(i int) string { return fmt.Sprintf("66.%d.%d.x", i%200, i%250) }, 3, true, 0, true},
		{"IPv6 without its end", 1000, func(i int) string { return fmt.Sprintf("2001:%x::", 0x4860+i%200) }, 3, false, 200, true},
	} {
		var census Census
		for i := range c.requests {
			client := ParseClient([]byte(c.field(i)))
			r := Requests{Network: client.Network, Operator: uint32(i / 2 % c.operators), Count: 1}
			if client.Anonymised {
				r.Anonymised = 1
			}
			census.Add(r)
		}
		network, proxied := census.Proxied()
		mixed, _ := census.Mixed()
		if proxied != c.proxied || mixed != c.mixed || census.Anonymised() != c.anonymised {
			t.Errorf("%s: proxied %v by %v, %d networks, anonymised %v", c.about, proxied, network.Prefix(), mixed, census.Anonymised())
		}
	}
	var census Census
	for i := range maxNetworks + 1000 {
		census.Add(Requests{Network: network4 | Network(i), Count: 1})
	}
	if census.networks != maxNetworks {
		t.Errorf("%d networks", census.networks)
	}
}

// TestNetwork checks the networks of addresses.
func TestNetwork(t *testing.T) {
	for field, want := range map[string]string{
		"66.249.64.5": "66.249.64.0/24", "::ffff:66.249.64.5": "66.249.64.0/24", "[2a03:2880:10ff:1::2]:443": "2a03:2880:10ff::/48",
		"0.0.0.1": "invalid Prefix", "10.0.0.1": "invalid Prefix", "::1": "invalid Prefix", "-": "invalid Prefix", "": "invalid Prefix",
	} {
		if got := ParseClient([]byte(field)).Network.Prefix().String(); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
}

// TestCensusCounts compares the counts of many networks with a map.
func TestCensusCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var census Census
	want := map[Network]int64{}
	for range 100_000 {
		n := network4 | Network(rng.IntN(1<<rng.IntN(16)))<<8
		if rng.IntN(3) == 0 {
			n = network6 | Network(rng.IntN(5000))<<20
		}
		count := 1 + rng.IntN(3)
		census.Add(Requests{Network: n, Count: uint32(count)})
		want[n] += int64(count)
	}
	for n, count := range want {
		if got := census.Sent(n); got != count {
			t.Errorf("%v sent %d, want %d", n.Prefix(), got, count)
		}
	}
	if got := census.Sent(network4 | 1<<40); got != 0 || census.networks != len(want) {
		t.Errorf("%d networks, want %d; one that never came sent %d", census.networks, len(want), got)
	}
}

// TestLocal checks that requests from the server itself are reported, unless the field contains addresses of a proxy:
// most of them, or a network of several operators.
func TestLocal(t *testing.T) {
	for _, c := range []struct {
		about             string
		local, other      int
		field             string
		operators, counts int
	}{
		{"health checks", 3, 997, "66.%d.%d.1", 3, 3},
		{"a few requests", 99, 0, "", 3, 99},
		{"a proxy on the machine", 100, 0, "", 3, 0},
		{"half of the requests", 500, 500, "66.%d.%d.1", 3, 0},
		{"networks of a proxy", 3, 997, "66.0.%[2]d.1", 3, 0},
		{"networks of one operator", 3, 997, "66.0.%[2]d.1", 1, 3},
	} {
		var census Census
		for i := range c.local + c.other {
			field := []string{"127.0.0.1", "::1", "::ffff:127.0.0.1"}[i%3]
			if i >= c.local {
				field = fmt.Sprintf(c.field, i/250, i%250)
			}
			client := ParseClient([]byte(field))
			r := Requests{Network: client.Network, Operator: uint32(i / 250 % c.operators), Count: 1}
			if client.Local {
				r.Local = 1
			}
			census.Add(r)
		}
		if got := census.Local(); got != int64(c.counts) {
			t.Errorf("%s: %d, want %d", c.about, got, c.counts)
		}
	}
}

// TestTexts checks the threshold for texts instead of addresses.
func TestTexts(t *testing.T) {
	for _, test := range []struct {
		text   string
		of     int // of 100 requests
		counts int64
	}{{"May", 10, 0}, {"May", 11, 11}, {"web-01", 100, 100}, {"crawl.a.example", 100, 0}, {"crawl.a.example", 99, 99}, {"-", 50, 0}, {"", 50, 0}, {"10.0.0.1", 50, 0}} {
		var census Census
		for i := range 100 {
			field := "66.249.64.5"
			if i < test.of {
				field = test.text
			}
			c := ParseClient([]byte(field))
			r := Requests{Network: c.Network, Count: 1}
			if c.Text {
				r.Texts = 1
			}
			if c.Named {
				r.Named = 1
			}
			census.Add(r)
		}
		if got := census.Texts(); got != test.counts {
			t.Errorf("%d of %q: %d, want %d", test.of, test.text, got, test.counts)
		}
	}
}
