package ranges

import (
	"bytes"
	"net/netip"
	"unsafe"
)

// ParseAddress reads a client's address as logs have it: with a port, in brackets, with a zone, of IPv4
// within IPv6. It returns the zero Addr for what is none, such as "-", a host name, or an address whose
// end is hidden, such as 1.2.3.x. It does not keep text.
func ParseAddress(text []byte) netip.Addr {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '"') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '"') {
		text = text[:len(text)-1]
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
	if len(text) < len("::") || !isAddressText(text) {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(unsafe.String(&text[0], len(text))) // it keeps no text that has no zone
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
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
