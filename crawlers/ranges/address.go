package ranges

import (
	"bytes"
	"net/netip"
	"unsafe"
)

// ParseAddress reads a client's address as logs have it: with a port, in brackets, with a zone, of IPv4
// within IPv6. It returns the zero Addr for other text, such as "-", a host name, or an address whose
// end is hidden, such as 1.2.3.x. It does not keep text.
func ParseAddress(text []byte) netip.Addr {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '"') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '"') {
		text = text[:len(text)-1]
	}
	if addr, rest, ok := parse4(text); ok && isPort(rest) {
		return addr
	}
	if len(text) < 2 || len(text) > maxAddress {
		return netip.Addr{}
	}
	switch end := bytes.LastIndexByte(text, ']'); {
	case text[0] == '[' && end > 0: // [2001:db8::1]:443
		if !isPort(text[end+1:]) {
			return netip.Addr{}
		}
		text = text[1:end]
	default:
		if colon := bytes.LastIndexByte(text, ':'); colon > 0 && colon == bytes.IndexByte(text, ':') { // 192.0.2.1:443
			if !isPort(text[colon:]) {
				return netip.Addr{}
			}
			text = text[:colon]
		}
	}
	if zone := bytes.IndexByte(text, '%'); zone >= 0 {
		text = text[:zone]
	}
	if bytes.IndexByte(text, ':') < 0 {
		addr, rest, ok := parse4(text)
		if !ok || len(rest) > 0 {
			return netip.Addr{}
		}
		return addr
	}
	if len(text) < len("::") || !isAddressText(text) {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(unsafe.String(&text[0], len(text))) // it keeps no text that has no zone
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// parse4 parses the address of IPv4 that text begins with, as netip.ParseAddr does in three times the time and
// with an error that allocates, and returns the rest.
func parse4(text []byte) (addr netip.Addr, rest []byte, ok bool) {
	var numbers [4]byte
	for i := range numbers {
		if i > 0 {
			if len(text) == 0 || text[0] != '.' {
				return addr, nil, false
			}
			text = text[1:]
		}
		n, digits := 0, 0
		for digits < len(text) && '0' <= text[digits] && text[digits] <= '9' && n < 256 {
			n = n*10 + int(text[digits]-'0')
			digits++
		}
		if digits == 0 || n > 255 || digits > 1 && text[0] == '0' {
			return addr, nil, false
		}
		numbers[i], text = byte(n), text[digits:]
	}
	return netip.AddrFrom4(numbers), text, true
}

// maxAddress is longer than any address with its brackets, zone and port.
const maxAddress = 128

// isAddressText reports whether all bytes are ones that addresses have: for others, parsing would allocate an error.
func isAddressText(text []byte) bool {
	for _, b := range text {
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'f') && b != '.' && b != ':' {
			return false
		}
	}
	return true
}

// isPort reports whether text is nothing, or a colon and digits.
func isPort(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if text[0] != ':' || len(text) == 1 || len(text) > 6 {
		return false
	}
	for _, b := range text[1:] {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}
