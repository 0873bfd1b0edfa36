//go:build !noidna

package robots

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxIDN is the longest host name beyond ASCII that is converted: a DNS name has at most 253 characters, and UTF-8
// needs at most four bytes for each. The limit exists because Punycode takes quadratic time.
const maxIDN = 4 * 253

// toASCII converts host names as browsers do: UTS 46, not transitional, without the rules on hyphens and ASCII
// characters that real names break. The result is checked like any ASCII name.
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.StrictDomainName(false), idna.CheckHyphens(false))

// appendIDN appends the Punycode form of a name with characters beyond ASCII. The error is [ErrHost]; the result is
// then dst.
func appendIDN(dst, host []byte) ([]byte, error) {
	isASCII := !slices.ContainsFunc(host, func(b byte) bool { return b >= utf8.RuneSelf })
	if isASCII || len(host) > maxIDN || !utf8.Valid(host) {
		return dst, ErrHost
	}
	name, err := toASCII.ToASCII(string(host))
	o, ok := appendASCIIHost(dst, name)
	if err != nil || !ok {
		return dst, ErrHost
	}
	return o, nil
}
