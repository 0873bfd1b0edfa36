package robots

// A spelling is one way to write a key.
type spelling struct {
	prefix string // in lower case
	kind   kind
	typo   bool
}

// spellings are what TypoKeys accepts, in the order in which google/robotstxt tries them. They are told by
// their beginning only, so that "allowed" is Allow and "user-agents" is User-agent.
var spellings = []spelling{
	{"user-agent", kindUserAgent, false},
	{"useragent", kindUserAgent, true},
	{"user agent", kindUserAgent, true},
	{"allow", kindAllow, false},
	{"disallow", kindDisallow, false},
	{"dissallow", kindDisallow, true},
	{"dissalow", kindDisallow, true},
	{"disalow", kindDisallow, true},
	{"diasllow", kindDisallow, true},
	{"disallaw", kindDisallow, true},
	{"sitemap", kindSitemap, false},
	{"site-map", kindSitemap, true},
}

// kindOf returns the kind of a line with this key, and whether the key is a misspelling of its name.
func (d Dialect) kindOf(key string) (k kind, typo bool) {
	first := lower(key[0])
	for i := range spellings {
		s := &spellings[i]
		if s.prefix[0] != first || !hasPrefixFold(key, s.prefix) {
			continue
		}
		if d.Has(TypoKeys) || !s.typo && len(key) == len(s.prefix) {
			return s.kind, s.typo
		}
	}
	return kindOther, false
}
