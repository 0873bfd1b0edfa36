package ranges

import (
	_ "embed" // the registries
	"net/netip"
	"strings"

	"github.com/gaissmai/bart"
)

//go:embed special.tsv
var specialText string

// special says of the addresses of IANA's registries of special-purpose addresses whether they are globally reachable.
var special = func() *bart.Table[bool] {
	t := &bart.Table[bool]{}
	for line := range strings.SplitSeq(specialText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		prefix, reachable, _ := strings.Cut(line, "\t")
		reachable, _, _ = strings.Cut(reachable, "\t")
		t.Insert(netip.MustParsePrefix(prefix), reachable == "True")
	}
	return t
}()

// isGlobal reports whether an address is one that clients on the internet have: by the longest match in
// special.tsv, if there is one.
func isGlobal(addr netip.Addr) bool {
	reachable, found := special.Lookup(addr)
	return !found || reachable
}
