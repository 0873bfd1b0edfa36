package ranges

import (
	_ "embed" // the registries
	"net/netip"
	"strings"
)

//go:embed special.tsv
var specialText string

// A specialPrefix is a line of IANA's registries of special-purpose addresses.
type specialPrefix struct {
	prefix    netip.Prefix
	reachable bool // globally
}

// specialPrefixes are all lines of special.tsv.
var specialPrefixes = func() (all []specialPrefix) {
	for line := range strings.SplitSeq(specialText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		prefix, reachable, _ := strings.Cut(line, "\t")
		reachable, _, _ = strings.Cut(reachable, "\t")
		all = append(all, specialPrefix{netip.MustParsePrefix(prefix), reachable == "True"})
	}
	return all
}()

// special has the value reachable or unreachable for each special-purpose address.
var special = func() table {
	prefixes := make([]valued, len(specialPrefixes))
	for i, s := range specialPrefixes {
		prefixes[i] = valued{s.prefix, unreachable}
		if s.reachable {
			prefixes[i].value = reachable
		}
	}
	return newTable(prefixes)
}()

// The values of special.
const (
	reachable   = 1
	unreachable = 2
)

// isGlobal reports whether an address is one that clients on the internet have: by the longest match in
// special.tsv, if there is one.
func isGlobal(addr netip.Addr) bool { return special.find(addr) != unreachable }
