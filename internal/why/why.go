// Package why reports why a robots.txt allows or disallows a path for a crawler: which groups bind it, which rules
// match, and which rule decides. All decisions come from the reference implementation in package robots.
//
// The command explain and the page of a report use it. It knows only the text of a robots.txt, not fetches. It imports
// only robots, so that it can be part of a page.
package why

import "github.com/robobatch/robobatch/robots"

// A Because names the reason for the answer of [Decide].
type Because uint8

// The values of Because.
const (
	RobotsTxt Because = iota // the path is the path of the robots.txt, which the dialect always allows
	NoGroup                  // no group binds the crawler
	Default                  // no rule of the groups matches
	ByRule                   // a rule decides
	Undefined                // a rule decides, but the dialect does not define which
)

// String returns the reason as in the output column reason.
func (b Because) String() string {
	return [...]string{"robots_txt", "no_group", "default", "rule", "undefined"}[b]
}

// Decide returns the rule that decides for the crawler, and the reason. If no rule decides, it returns a rule that
// allows, with Line 0. The path must come from [robots.Dialect.Path].
func Decide(file *robots.File, who robots.Agent, path []byte, d robots.Dialect) (robots.Rule, Because) {
	allowed := robots.Rule{Allow: true}
	if d.AlwaysAllowed(path) {
		return allowed, RobotsTxt
	}
	rules, ok := file.Select(who)
	if !ok {
		return allowed, NoGroup
	}
	winner := robots.Decide(rules, path, d)
	switch {
	case winner < 0:
		return allowed, Default
	case robots.Undefined(rules, winner, path, d):
		return rules[winner], Undefined
	}
	return rules[winner], ByRule
}

// A Group describes which groups bind a crawler, and by which name.
type Group struct {
	Names  []Name  `json:"names"`  // the names that were searched for, in order, up to the first that was found
	Parts  []Lines `json:"groups"` // the groups that bind it, which are merged
	Shared int     `json:"shared"` // number of other names, including *, in these groups
}

// ByStar reports whether the groups were found by the name *.
func (g *Group) ByStar() bool {
	return len(g.Names) > 0 && g.Names[len(g.Names)-1] == Name{"*", true}
}

// A Name is a name of the crawler for which groups are searched.
type Name struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
}

// Lines are the first and last line of a group.
type Lines struct {
	First  int32    `json:"first_line"`
	Last   int32    `json:"last_line"`
	Agents []string `json:"agents"` // names in its User-agent lines
}

// A Rule is a rule of the groups that bind the crawler, with the result of matching it.
type Rule struct {
	Line    int32  `json:"line"`
	Text    string `json:"rule"`
	Pattern string `json:"pattern"` // normalised, from [robots.ReadablePattern]
	Matches bool   `json:"matches"`
	Length  int    `json:"length"`               // its precedence, see [robots.Dialect.Length]: "%2A" and "%24" count 1 in rfc9309
	StopsAt int    `json:"stops_at,omitempty"`   // 1-based byte of Pattern that the path does not match; 0 if it matches
	Decides string `json:"decides_by,omitempty"` // why the rule decides: "only", "longest", "allow" (on a tie) or "first"; "" for other rules
}

// GroupOf returns the groups that bind a crawler, and the names by which they were searched. The result and its lists
// are never nil.
func GroupOf(file *robots.File, who robots.Agent) *Group {
	g := &Group{Names: []Name{}, Parts: []Lines{}}
	bound := map[int]bool{}
	for _, i := range file.Binding(who) {
		bound[i] = true
	}
	found := false
	for _, token := range append([]robots.ProductToken{who.Token}, who.Fallbacks...) {
		if token == "" || found {
			continue
		}
		for i := range file.Groups {
			found = found || bound[i] && file.Groups[i].Names(token)
		}
		g.Names = append(g.Names, Name{string(token), found})
	}
	if !found && !who.IgnoresStar {
		g.Names = append(g.Names, Name{"*", len(bound) > 0})
	}
	by := robots.ProductToken("")
	if n := len(g.Names); n > 0 {
		by = robots.ProductToken(g.Names[n-1].Name)
	}
	for i, group := range file.Groups {
		if bound[i] {
			l := Lines{First: group.Line, Last: group.Line, Agents: []string{}}
			if n := len(group.Rules); n > 0 {
				l.Last = group.Rules[n-1].Line
			}
			if group.Star {
				l.Agents = append(l.Agents, "*")
			}
			for _, name := range group.Agents {
				l.Agents = append(l.Agents, string(name))
			}
			g.Parts = append(g.Parts, l)
			var n int
			if group.Star && by != "*" {
				n++
			}
			for _, name := range group.Agents {
				if !name.Equal(by) {
					n++
				}
			}
			g.Shared += n
		}
	}
	return g
}

// RulesOf returns the rules in the order in which [robots.Try] returns them. Decides is set for the first one if it
// matches. The path must come from [robots.Dialect.Path].
func RulesOf(rules []robots.Rule, path []byte, d robots.Dialect) []Rule {
	trials := robots.Try(rules, path, d)
	out := make([]Rule, len(trials))
	for i, t := range trials {
		r := &rules[t.Rule]
		out[i] = Rule{Line: r.Line, Text: r.String(), Pattern: robots.ReadablePattern(t.Pattern), Matches: t.Matches(), Length: d.Length(t.Pattern)}
		if !t.Matches() {
			out[i].StopsAt = len(robots.ReadablePattern(t.Pattern[:t.Reach])) + 1
		}
	}
	switch {
	case len(out) == 0 || !out[0].Matches:
	case len(out) == 1 || !out[1].Matches:
		out[0].Decides = "only"
	case out[1].Length < out[0].Length:
		out[0].Decides = "longest"
	case rules[trials[1].Rule].Allow != rules[trials[0].Rule].Allow:
		out[0].Decides = "allow"
	default:
		out[0].Decides = "first"
	}
	return out
}
