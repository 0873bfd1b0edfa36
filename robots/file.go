package robots

import "slices"

// A File is a parsed robots.txt. It is immutable once parsed and safe for concurrent use.
type File struct {
	Groups    []Group // in order of appearance
	Truncated bool    // the body was longer than [MaxBytes], and the rest was not read
	CutLine   int32   // 1-based line that this limit cut in two, and that was discarded; 0 if none
}

// A Group holds consecutive user-agent lines and the rules that follow them (RFC 9309 section 2.1).
type Group struct {
	Agents []ProductToken // the product tokens named, as written, cut to token characters; empty ones are omitted
	Star   bool           // one of the user-agent lines is "*"
	Rules  []Rule         // in order of appearance; those that have no effect in the dialect are omitted
	Line   int32          // 1-based, of its first user-agent line
}

// Names reports whether a user-agent line of the group names the token. The empty token is never
// named.
func (g *Group) Names(t ProductToken) bool {
	return slices.ContainsFunc(g.Agents, t.Equal)
}

// A Rule is one allow or disallow line (RFC 9309 section 2.2.2).
type Rule struct {
	Allow   bool   // whether the paths that it decides may be fetched
	Line    int32  // 1-based
	Value   string // the value as written, after the comment is cut and white space trimmed; see String for ""
	Pattern string // Value in the normal form of the dialect, which is matched, and whose length in bytes is the priority; see ReadablePattern
}

// String returns the rule as in the output column "rule": "Allow: /p" or "Disallow: /p". A rule without a value has
// the opposite effect of its key (see emptyRules): "Disallow: " allows.
func (r Rule) String() string {
	if r.Allow != (r.Value == "") {
		return "Allow: " + r.Value
	}
	return "Disallow: " + r.Value
}

// Select returns the rules for the agent, in file order: the rules of all groups that name its token, or else the
// rules of the first of its fallbacks that a group names, or else the rules of all groups for "*" (RFC 9309 section
// 2.2.1). ok is false if there is no such group. A group without rules allows everything, and ok is true. The rules
// may share memory with f: the caller must not change them.
func (f *File) Select(a Agent) (rules []Rule, ok bool) {
	groups := f.Binding(a)
	for _, i := range groups {
		if len(rules) == 0 {
			rules = slices.Clip(f.Groups[i].Rules)
		} else {
			rules = append(rules, f.Groups[i].Rules...)
		}
	}
	return rules, len(groups) > 0
}

// Binding returns the indices of the groups whose rules [File.Select] merges for the agent, ascending; none if no
// group binds it. It ignores the rules.
func (f *File) Binding(a Agent) (groups []int) {
	binds := f.binds(a)
	for i, g := range f.Groups {
		if binds(g) {
			groups = append(groups, i)
		}
	}
	return groups
}

// binds returns a function that reports whether a group binds an agent: those that name the first of its tokens that
// any group names, or else those for "*".
func (f *File) binds(a Agent) func(Group) bool {
	for _, t := range append([]ProductToken{a.Token}, a.Fallbacks...) {
		named := func(g Group) bool { return g.Names(t) }
		if slices.ContainsFunc(f.Groups, named) {
			return named
		}
	}
	return func(g Group) bool { return g.Star && !a.IgnoresStar }
}
