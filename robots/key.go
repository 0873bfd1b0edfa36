package robots

// A spelling is one way to write a key.
type spelling struct {
	prefix string // in lower case
	kind   kind
	typo   bool
	whole  bool // the key must be the prefix and no more, even for typoKeys
}

// spellings are the keys that typoKeys accepts, in the order that google/robotstxt tries them. Only their beginning
// counts, so that "allowed" is Allow and "user-agents" is User-agent. The last three have no effect on the answers of
// google/robotstxt; it knows their exact names.
var spellings = []spelling{
	{prefix: "user-agent", kind: kindUserAgent},
	{prefix: "useragent", kind: kindUserAgent, typo: true},
	{prefix: "user agent", kind: kindUserAgent, typo: true},
	{prefix: "allow", kind: kindAllow},
	{prefix: "disallow", kind: kindDisallow},
	{prefix: "dissallow", kind: kindDisallow, typo: true},
	{prefix: "dissalow", kind: kindDisallow, typo: true},
	{prefix: "disalow", kind: kindDisallow, typo: true},
	{prefix: "diasllow", kind: kindDisallow, typo: true},
	{prefix: "disallaw", kind: kindDisallow, typo: true},
	{prefix: "sitemap", kind: kindSitemap},
	{prefix: "site-map", kind: kindSitemap, typo: true},
	{prefix: "crawl-delay", kind: kindCrawlDelay, whole: true},
	{prefix: "host", kind: kindHost, whole: true},
	{prefix: "clean-param", kind: kindCleanParam, whole: true},
}

// spellingsOf has the spellings by their first byte, in both cases.
var spellingsOf = func() (t [256][]spelling) {
	for _, s := range spellings {
		first := s.prefix[0]
		t[first] = append(t[first], s)
		t[first-'a'+'A'] = t[first]
	}
	return t
}()

// kindOf returns the kind of a line with this key, and whether the key is a misspelling of its
// name.
func (d Dialect) kindOf(key string) (k kind, typo bool) {
	candidates := spellingsOf[key[0]]
	for i := range candidates {
		s := &candidates[i]
		if !hasPrefixFold(key, s.prefix) {
			continue
		}
		exact := len(key) == len(s.prefix)
		if d.Has(typoKeys) && (exact || !s.whole) || !s.typo && exact {
			return s.kind, s.typo
		}
	}
	return kindOther, false
}
