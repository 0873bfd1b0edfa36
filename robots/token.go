package robots

import "strings"

// A ProductToken is the name that a crawler looks for to find its group (RFC 9309 section 2.2.1), such
// as "Googlebot". Tokens are compared without regard to ASCII case.
type ProductToken string

// Valid reports whether t is a product token of the standard: letters, "_" and "-", and not empty.
func (t ProductToken) Valid() bool { return t != "" && Dialect(0).token(string(t)) == t }

// Equal reports whether both tokens name the same crawler. The empty token names no crawler, not even itself.
func (t ProductToken) Equal(u ProductToken) bool {
	return t != "" && len(t) == len(u) && hasPrefixFold(string(t), string(u))
}

// token returns the longest prefix of name that is a product token, or "". It shares the memory of
// name.
func (d Dialect) token(name string) ProductToken { return ProductToken(name[:tokenLen(d, name)]) }

// TokenLen returns the length of the longest prefix of a name that is a product token.
func (d Dialect) TokenLen(name []byte) int { return tokenLen(d, name) }

// tokenLen is TokenLen, for strings too.
func tokenLen[T string | []byte](d Dialect, name T) (n int) {
	for ; n < len(name); n++ {
		if b := name[n]; !isLetter(b) && b != '-' && b != '_' && (!d.Has(WideTokens) || (b < '0' || b > '9') && b != '.') {
			break
		}
	}
	return n
}

// parseUserAgent returns the token in the value of a user-agent line, which must be trimmed: the token of a crawler, or
// a policy token (see IsPolicy). It is "" if the line names no token. star means that the line names all crawlers;
// token is then "". It shares the memory of value.
func (d Dialect) parseUserAgent(value string) (token ProductToken, star bool) {
	switch {
	case d.Has(wholeNames) && strings.ContainsAny(value, space):
		return "", false
	case value != "" && value[0] == '*' && (len(value) == 1 || isSpace(value[1])): // "* and more" is "*", "*bot" is not
		return "", true
	case ProductToken(value).IsPolicy():
		return ProductToken(value), false
	}
	return d.token(value), false
}

// policyPrefix starts tokens that name a use of pages instead of a crawler.
const policyPrefix = "__usage_"

// policyToken is the only such token that a draft defines.
const policyToken ProductToken = policyPrefix + "ai-training"

// IsPolicy reports whether t names a use of pages instead of a crawler. Such a token is the whole value of its line.
func (t ProductToken) IsPolicy() bool { return hasPrefixFold(string(t), policyPrefix) }

// isCrawler reports whether t names a crawler, or is "*".
func (t ProductToken) isCrawler() bool { return !t.IsPolicy() }

// hasPrefixFold reports whether s starts with prefix, without regard to ASCII case.
func hasPrefixFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + ('a' - 'A')
	}
	return b
}
