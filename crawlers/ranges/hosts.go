package ranges

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// hosts are verified DNS names of addresses: according to the file of -hosts, a reverse look-up of the address returned
// the name, and a forward look-up of the name returned the address.
type hosts struct {
	byAddress map[netip.Addr][]host
}

// A host is such a name.
type host struct {
	labels []string // in lower case, without a trailing dot
	proof  Proof
}

// verify returns the proof by the first name of the address that ends in one of the suffixes; 0 if there is none.
// Suffixes are in lower case, as labels.
func (h *hosts) verify(client netip.Addr, suffixes [][]string) Proof {
	for _, host := range h.byAddress[client] {
		for _, suffix := range suffixes {
			if n := len(host.labels) - len(suffix); n >= 0 && slices.Equal(host.labels[n:], suffix) {
				return host.proof
			}
		}
	}
	return 0
}

// size returns the approximate memory in bytes of the map, the names and their labels.
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

// splitLabels splits a host name, in lower case and without a trailing dot.
func splitLabels(name string) []string {
	return strings.Split(strings.ToLower(strings.TrimSuffix(name, ".")), ".")
}

// parseHosts parses a file of -hosts. Each line has an address, its name, and the addresses of the name, separated by
// tabs; these addresses are separated by spaces. A name that does not resolve to the address proves nothing and is
// dropped. "#" begins a comment line. newProof is called for each name that proves something. The error is the first
// fault, with its line; a file without entries is a fault.
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
		isBack := false // the addresses of the name include the client's
		if len(fields) > 2 {
			for text := range strings.FieldsSeq(fields[2]) {
				addr, err := netip.ParseAddr(text)
				if err != nil {
					return nil, fmt.Errorf("line %d: %q is not an address of the name", n, text)
				}
				isBack = isBack || addr.WithZone("").Unmap() == client
			}
		}
		name := strings.TrimSpace(fields[1])
		if !isBack || name == "" || name == "." {
			continue
		}
		h.byAddress[client] = append(h.byAddress[client], host{splitLabels(name), newProof(strings.ToLower(strings.TrimSuffix(name, ".")))})
	}
	if rows == 0 {
		return nil, errors.New("the file has no hosts: write an address, its name and the addresses of that name, separated by tabs, in each line")
	}
	return h, nil
}
