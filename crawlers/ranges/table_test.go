package ranges

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// TestTable compares tables with a linear search, at the edges of all prefixes: prefixes of all lengths that nest, are
// adjacent, and include the last address.
func TestTable(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		prefixes := map[netip.Prefix]int32{}
		for n := 1 + rng.IntN(1<<rng.IntN(11)); n > 0; n-- {
			prefixes[randomPrefix(rng)] = int32(1 + rng.IntN(3))
		}
		var all []valued
		addrs := []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified(), netip.MustParseAddr("255.255.255.255"), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")}
		for p, value := range prefixes {
			all = append(all, valued{p, value})
			addrs = append(addrs, edges(p)...)
		}
		table := newTable(all)
		rng.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
		for _, addr := range addrs[:min(len(addrs), 1000)] {
			if !addr.IsValid() { // there is no address before or after the prefix
				continue
			}
			bits, want := -1, int32(0)
			for p, value := range prefixes {
				if p.Contains(addr) && p.Bits() > bits {
					bits, want = p.Bits(), value
				}
			}
			if got := table.find(addr); got != want {
				t.Fatalf("seed %d, %d prefixes: %s has the value %d, want %d", seed, len(all), addr, got, want)
			}
			compared++
		}
	}
	if compared < 10_000 {
		t.Errorf("%d comparisons", compared)
	}
}

// randomPrefix returns a prefix of IPv4 or IPv6 with few bits that are not all zeros or all ones.
func randomPrefix(rng *rand.Rand) netip.Prefix {
	var b [16]byte
	fill := byte(-rng.IntN(2)) // 0 or 255
	for i := range b {
		b[i] = fill
		if rng.IntN(4) == 0 {
			b[i] ^= byte(rng.Uint32())
		}
	}
	if rng.IntN(2) == 0 {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte(b[:4])), rng.IntN(33)).Masked()
	}
	bits := rng.IntN(129)
	if rng.IntN(2) == 0 {
		bits = min(128, 62+rng.IntN(5)+64*rng.IntN(2)) // near the middle or the end of an address
	}
	return netip.PrefixFrom(netip.AddrFrom16(b), bits).Masked()
}
