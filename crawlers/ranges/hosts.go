package ranges

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// hosts are the DNS names of addresses, with the addresses of these names: the results of a reverse and a forward
// look-up. The author of the file of -hosts has made both.
type hosts struct {
	byAddress map[netip.Addr][]host
}

// A host is a name that resolves to the address that has it.
type host struct {
	labels []string // in lower case, without a trailing dot
	proof  Proof
}

// verify returns the proof by a name of the address that ends in one of the suffixes, or 0.
func (h *hosts) verify(client netip.Addr, suffixes [][]string) Proof {
	for _, host := range h.byAddress[client] {
		for _, suffix := range suffixes {
			if endsIn(host.labels, suffix) {
				return host.proof
			}
		}
	}
	return 0
}

// size returns the approximate number of bytes that the names take: each in the map, its labels, and its text.
func (h *hosts) size() (size int64) {
	const sizeOfEntry, sizeOfHost, sizeOfLabel = 2 * (24 + 24), 32, 16 // maps are half full at times
	for _, all := range h.byAddress {
		size += sizeOfEntry
		for _, host := range all {
			size += sizeOfHost
			for _, label := range host.labels {
				size += sizeOfLabel + int64(len(label)) + 1
			}
		}
	}
	return size
}

// endsIn reports whether a name equals a suffix or is below it, label by label.
func endsIn(name, suffix []string) bool {
	if len(name) < len(suffix) {
		return false
	}
	for i, label := range suffix {
		if name[len(name)-len(suffix)+i] != label {
			return false
		}
	}
	return true
}

// labels splits a host name, in lower case and without a trailing dot.
func labels(name string) []string {
	return strings.Split(strings.ToLower(strings.TrimSuffix(name, ".")), ".")
}

// parseHosts parses a file of -hosts. Each line has an address, its name, and the addresses of the name, separated
// by tabs; these addresses are separated by spaces. A name that does not resolve to the address proves nothing and
// is dropped. "#" begins a comment line.
func parseHosts(text string, newProof func(string) Proof) (*hosts, error) {
	h := &hosts{byAddress: map[netip.Addr][]host{}}
	n, rows := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		rows++
		fields := strings.Split(line, "\t")
		if len(fields) < 2 || len(fields) > 3 {
			return nil, fmt.Errorf("line %d: %d fields separated by tabs instead of 3: an address, its name, and the addresses of that name", n, len(fields))
		}
		client, err := netip.ParseAddr(strings.TrimSpace(fields[0]))
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not an address", n, fields[0])
		}
		client = client.WithZone("").Unmap()
		back, err := leadsBack(fields[2:], client)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		name := strings.TrimSpace(fields[1])
		if !back || name == "" || name == "." {
			continue
		}
		h.byAddress[client] = append(h.byAddress[client], host{labels(name), newProof(strings.ToLower(strings.TrimSuffix(name, ".")))})
	}
	if rows == 0 {
		return nil, errors.New("the file has no hosts: write an address, its name and the addresses of that name, separated by tabs, in each line")
	}
	return h, nil
}

// leadsBack reports whether the addresses of a name, in the field if there is one, contain the client's.
func leadsBack(field []string, client netip.Addr) (bool, error) {
	if len(field) == 0 {
		return false, nil
	}
	back := false
	for text := range strings.FieldsSeq(field[0]) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return false, fmt.Errorf("%q is not an address of the name", text)
		}
		back = back || addr.WithZone("").Unmap() == client
	}
	return back, nil
}
