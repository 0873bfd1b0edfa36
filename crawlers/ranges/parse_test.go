package ranges

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParse parses each format of a list, and each rule of the specification.
func TestParse(t *testing.T) {
	day := time.Date(2026, 8, 15, 0, 0, 0, 0, time.UTC).UnixMicro()
	for _, c := range []struct {
		about, text string
		time        int64
		prefixes    string
	}{
		{"as Google publishes it, without a zone", `{"creationTime": "2026-08-15T00:00:00.000000", "prefixes": [{"ipv6Prefix": "2001:4860:4801:10::/64"}, {"ipv4Prefix": "66.249.64.0/27"}]}`, day, "2001:4860:4801:10::/64 66.249.64.0/27"},
		{"with a zone", `{"creationTime": "2026-08-15T02:00:00+02:00", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, day, "66.249.64.0/27"},
		{"without a time", `{"prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, NoTime, "66.249.64.0/27"},
		{"the draft, version 00", `{"formatVersion": "1.7", "synctoken": "x", "creationTime": "2026-08-15T00:00:00Z", "notes": "n", "prefixes": [{"ipv4Prefix": "66.249.64.0/27", "service": "Examplebot"}]}`, day, "66.249.64.0/27"},
		{"both fields or neither: ignored", `{"prefixes": [{"ipv4Prefix": "1.0.0.0/24", "ipv6Prefix": "2001:4860::/32"}, {"service": "x"}, {"ipv4Prefix": "66.249.64.0/27"}]}`, NoTime, "66.249.64.0/27"},
		{"zero-width spaces and blanks", "{\"prefixes\": [{\"ipv4Prefix\": \" 40.77.139.0/25\u200b\"}]}", NoTime, "40.77.139.0/25"},
		{"IPv4 within IPv6", `["::ffff:66.249.64.0/123", "::ffff:1.2.3.4"]`, NoTime, "66.249.64.0/27 1.2.3.4/32"},
		{"an array of texts", `["66.249.64.0/27", "1.2.3.4", "2001:4860:4801:10::/64"]`, NoTime, "66.249.64.0/27 1.2.3.4/32 2001:4860:4801:10::/64"},
		{"lines", "\ufeff# kept by cron\r\n# created: 2026-08-15\r\n\r\n66.249.64.0/27 # one\r\n1.2.3.4\r\n", day, "66.249.64.0/27 1.2.3.4/32"},
		{"lines with two times, of which the first counts", "# created: 2026-08-15\n# created: 2026-08-16\n1.2.3.4", day, "1.2.3.4/32"},
		{"lines with a moment", "# created: 2026-08-15T00:00:00Z\n1.2.3.4", day, "1.2.3.4/32"},
	} {
		s, err := parseList([]byte(c.text))
		var got []string
		for _, p := range s.prefixes {
			got = append(got, p.String())
		}
		if err != nil || s.time != c.time || strings.Join(got, " ") != c.prefixes {
			t.Errorf("%s: %v at %d, %v; want %s at %d", c.about, got, s.time, err, c.prefixes, c.time)
		}
	}
}

// TestCover checks how many addresses a list may cover; overlaps count once.
func TestCover(t *testing.T) {
	const hundredth = "1.0.0.0/8\n2.0.0.0/8\n3.0.0.0/9\n4.0.0.0/13\n5.0.0.0/14\n6.0.0.0/15\n7.0.0.0/16\n8.0.0.0/18\n9.0.0.0/20\n11.0.0.0/21\n12.0.0.0/22\n13.0.0.0/27\n14.0.0.0/29\n" // 42,949,672 addresses, and a hundredth is 42,949,672.96
	var all8, parts strings.Builder
	for i := range 256 {
		fmt.Fprintf(&all8, "%d.0.0.0/8\n", i)
	}
	for i := range 12 { // 12/4096 of IPv4, many times
		for bits := 12; bits < 20; bits++ {
			fmt.Fprintf(&parts, "10.%d.0.0/%d\n", i*16, bits)
		}
	}
	eights, ones := all8.String(), parts.String()
	for text, want := range map[string]string{
		"0.0.0.0/1\n128.0.0.0/1\n":           "100.0% of all IPv4 addresses",
		"0.0.0.0/1\n0.0.0.0/2\n64.0.0.0/2\n": "50.0% of all",
		eights:                               "100.0% of all",
		"1.0.0.0/8\n2.0.0.0/8\n":             "",
		"1.0.0.0/8\n2.0.0.0/8\n3.0.0.0/8\n":  "1.2% of all",
		hundredth:                            "",
		hundredth + "15.0.0.1":               "1.0% of all",
		ones:                                 "",
		"2000::/16\n":                        "",
		"2000::/16\n2000::/17\n2000::1\n":    "",
		"2000::/15\n":                        "2 times an IPv6 /16",
		"2000::/16\n2001::1\n":               "times an IPv6 /16",
		"::/1\n8000::/1\n":                   "times an IPv6 /16",
		"::/2\n4000::/2\n8000::/2\nc000::/2\n1.2.3.4\n": "times an IPv6 /16",
		"::ffff:0.0.0.0/97\n":                           "50.0% of all IPv4 addresses",
	} {
		_, err := parseList([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	r := rand.New(rand.NewPCG(12, 51))
	for range 40 { // every /16 of IPv4, one by one
		var prefixes []netip.Prefix
		covered := map[int]bool{}
		for range r.IntN(12) {
			first := r.IntN(1 << 16)
			bits := 7 + r.IntN(10)
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(first >> 8), byte(first)}), bits).Masked()
			prefixes = append(prefixes, p)
			for i := range 1 << 16 {
				if p.Contains(netip.AddrFrom4([4]byte{byte(i >> 8), byte(i)})) {
					covered[i] = true
				}
			}
		}
		if err := checkCover(prefixes); (err != nil) != (100*len(covered) > 1<<16) {
			t.Errorf("%v: %v, and %d of 65536 parts", prefixes, err, len(covered))
		}
	}
}

// TestParseFaults checks that each fault is an error with its position.
func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{" \n", "empty"},
		{"<!DOCTYPE html><html>", "HTML"},
		{`{"prefixes": []}`, "no prefix"},
		{`[]`, "no prefix"},
		{"# created: 2026-08-15\n", "no prefix"},
		{`{"prefixes": [{"service": "x"}]}`, "no prefix"},
		{`{"services": {}}`, `missing member "prefixes"`},
		{`{"prefixes": {}}`, "not an array"},
		{`{"prefixes": ["66.249.64.0/27"]}`, "prefixes[0]"},
		{`{"prefixes": [null]}`, "prefixes[0]"},
		{"{\n\"prefixes\": [\n{\"ipv4Prefix\" \"66.249.64.0/27\"}]}", "line 3"},
		{`{"formatVersion": "2.0", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, "formatVersion 2.0"},
		{`{"formatVersion": 3, "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, "formatVersion 3"},
		{`{"formatVersion": "new", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, "formatVersion"},
		{`{"creationTime": "yesterday", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, "creationTime"},
		{`{"creationTime": 5, "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`, "creationTime"},
		{`{"prefixes": [{"ipv4Prefix": "66.249.64.0/27"}, {"ipv4Prefix": "crawl-66-249-64-1.googlebot.com"}]}`, "prefixes[1]: ipv4Prefix"},
		{`{"prefixes": [{"ipv4Prefix": "66.249.64.1"}]}`, "write 66.249.64.1/32"},
		{`{"prefixes": [{"ipv4Prefix": "66.249.64.1/27"}]}`, "66.249.64.0/27"},
		{`{"prefixes": [{"ipv4Prefix": "0.0.0.0/0"}]}`, "every address"},
		{`{"prefixes": [{"ipv6Prefix": "::/0"}]}`, "every address"},
		{`{"prefixes": [{"ipv6Prefix": "66.249.64.0/27"}]}`, "other version"},
		{`{"prefixes": [{"ipv4Prefix": "2001:4860::/32"}]}`, "other version"},
		{`{"prefixes": [{"ipv4Prefix": 5}]}`, "want a text"},
		{`{"prefixes": [{"ipv4Prefix": "66.249.64.0/27"}], "prefixes": [{"ipv4Prefix": "66.249.65.0/27"}]}`, `duplicate member "prefixes"`},
		{`{"prefixes": [{"ipv4Prefix": "66.249.64.0/27", "ipv4Prefix": "66.249.65.0/27"}]}`, `prefixes[0]: duplicate member "ipv4Prefix"`},
		{`["66.249.64.0/27", 5]`, "[1]"},
		{`["66.249.64.0/27", "AS15169"]`, "[1]"},
		{"66.249.64.0/27\ngooglebot.com\n", "line 2"},
		{"66.249.64.0/33\n", "line 1"},
		{"fe80::1%eth0\n", "line 1"},
		{"::ffff:0:0/90\n", "line 1"},
		{"# created: soon\n1.2.3.4\n", "line 1: created"},
	} {
		if s, err := parseList([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v and %v, want an error with %q", c.text, s.prefixes, err, c.want)
		}
	}
}

// FuzzParse checks that what was parsed can be looked up and proves the right prefixes.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"creationTime": "2026-08-15T00:00:00.000000", "prefixes": [{"ipv6Prefix": "2001:4860:4801:10::/64"}, {"ipv4Prefix": "66.249.64.0/27"}]}`))
	f.Add([]byte("# created: 2026-08-15\n66.249.64.0/27\n1.2.3.4\n"))
	f.Add([]byte(`["66.249.64.0/27"]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseList(text)
		if err != nil {
			return
		}
		g := gatherer{found: map[string]*foundList{"x": {tokens: []string{"X"}, snapshots: []snapshot{s}}}}
		l := &Lists{speakers: []speaker{{}}, byToken: map[string]Speaker{}, proofs: []string{""}, age: DefaultAge}
		l.build(&g)
		for _, p := range s.prefixes {
			want := refer([][]snapshot{{s}}, p.Addr(), s.time, DefaultAge)
			if got, _ := l.Verify(l.Speaker("x"), p.Addr(), s.time); got != want {
				t.Fatalf("%s: %v, want %v", p, got, want)
			}
		}
	})
}

// TestParseAddress parses addresses as in logs.
func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"66.249.64.1": "66.249.64.1", "66.249.64.1:443": "66.249.64.1", `"66.249.64.1"`: "66.249.64.1", " 66.249.64.1 ": "66.249.64.1",
		"2001:4860::1": "2001:4860::1", "[2001:4860::1]": "2001:4860::1", "[2001:4860::1]:443": "2001:4860::1",
		"2001:4860::1:54321": "2001:4860::1", "2001:4860::1:443": "2001:4860::1:443", "2001:4860:0:0:0:0:0:1:443": "2001:4860::1", "::ffff:66.249.64.1:54321": "66.249.64.1",
		"2001:4860::1:654321": "", "2001:4860:::54321": "2001:4860::", "[2001:4860::1:54321]": "",
		"::ffff:66.249.64.1": "66.249.64.1", "[::ffff:66.249.64.1]:80": "66.249.64.1", "fe80::1%eth0": "fe80::1", "::": "::",
		"-": "", "": "", "unknown": "", "1.2.3.x": "", "1.2.3": "", "1.2.3.4.5": "", "66.249.64.1:": "", "66.249.64.1:x": "",
		"[66.249.64.1": "", "[::1]x": "", "example.com": "", "66.249.64.1, 10.0.0.1": "", "1.2.3.04": "", "%eth0": "",
		"1.2.3.256": "", "1.2.3.4%eth0": "1.2.3.4", "1.2.3.4%eth0:80": "1.2.3.4", "1.2.3.999999999999999999999": "", "0.0.0.0": "0.0.0.0", "255.255.255.255:65535": "255.255.255.255",
		strings.Repeat("1", 1000): "",
	} {
		got := ParseAddress([]byte(text))
		if want == "" && got.IsValid() || want != "" && got != netip.MustParseAddr(want) {
			t.Errorf("%q is %v, want %q", text, got, want)
		}
	}
	texts := [][]byte{[]byte("66.249.64.1:443"), []byte("[2001:4860:4801:10::1]:443"), []byte("2001:4860:4801:10::1:54321"), []byte("-"), []byte("host.example"), []byte("1.2.3.444"), []byte("fe80::1%eth0")}
	if n := testing.AllocsPerRun(100, func() {
		for _, text := range texts {
			ParseAddress(text)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParseAddress compares IPv4 addresses with package netip, alone and followed by what logs append.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"66.249.64.1", "1.2.3.256", "1.2.3.04", "1.2.3", "1.2.3.4.5", "::ffff:1.2.3.4", "2001:db8::1", "1..2.3", "00.1.2.3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := netip.ParseAddr(text)
		if err != nil || want.Zone() != "" {
			want = netip.Addr{}
		}
		got := ParseAddress([]byte(text))
		if want.IsValid() && got != want.Unmap() {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
		if !want.IsValid() && got.IsValid() && !strings.ContainsAny(text, ":% \"[") {
			t.Errorf("%q is %v, and no address", text, got)
		}
		if want.Is4() && ParseAddress([]byte(text+":443")) != want {
			t.Errorf("%q with a port is another address", text)
		}
	})
}

// TestSpecial compares the registries with examples from their documents.
func TestSpecial(t *testing.T) {
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "10.1.2.3": false, "100.64.0.1": false, "192.0.0.9": true, "192.0.0.8": false, "192.88.99.1": false,
		"203.0.113.9": false, "224.0.0.1": false, "255.255.255.255": false, "2001:4860::1": true, "2001::1": false,
		"2001:1::1": true, "2001:1::4": false, "2001:20::1": true, "2001:db8::1": false, "2002::1": false, "fe80::1": false, "ff02::1": false, "fd00::1": false,
	} {
		if isGlobal(netip.MustParseAddr(addr)) != want {
			t.Errorf("%s: globally reachable is not %v", addr, want)
		}
	}
	var lines []string
	for line := range strings.Lines(specialText) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); line[0] != '#' {
			if len(fields) != 3 || !slices.Contains([]string{"True", "False", "N/A"}, fields[1]) {
				t.Errorf("special.tsv: %q", line)
			}
			lines = append(lines, fields[0])
		}
	}
	slices.Sort(lines)
	if len(lines) != len(slices.Compact(lines)) || len(specialPrefixes) != len(lines) {
		t.Errorf("special.tsv has a prefix twice")
	}
}
