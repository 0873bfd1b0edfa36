package rules

import (
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// A Choice says by which name the groups of an agent are chosen, see engine.Choice.
type Choice uint8

// The values of Choice.
const (
	NoChoice Choice = iota
	ByToken
	ByFallback
	ByStar
)

// String returns the choice as the output column "group" spells it.
func (c Choice) String() string { return [...]string{"none", "name", "family", "*"}[c] }

// choices returns the choice of each agent in a text. The groups need no rules.
func choices(f *robots.File, agents []robots.Agent) []Choice {
	all, named := make([]Choice, len(agents)), tokensOf(f)
	star := slices.ContainsFunc(f.Groups, func(g robots.Group) bool { return g.Star })
	for i, a := range agents {
		switch {
		case slices.ContainsFunc(named, a.Token.Equal):
			all[i] = ByToken
		case named.have(a):
			all[i] = ByFallback
		case star && !a.IgnoresStar:
			all[i] = ByStar
		}
	}
	return all
}

// SetChoices sets the choices of the text's groups, if opt.Choices is set.
func (r *Ruling) SetChoices(f *robots.File, opt *Options) {
	if opt.Choices {
		r.Choices = choices(f, opt.Agents)
		r.Size += int64(len(r.Choices))
	}
}
