package engine

import (
	"strings"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// NewAgent returns the crawler of that name as [robots.NewAgent] does, and, with the flag [robots.Habits], with what its
// operator documents of it beyond that, as package crawlers knows it: that it does not heed groups for "*", or that it
// falls back to the group of another crawler.
func NewAgent(name string, d robots.Dialect) robots.Agent {
	a := robots.NewAgent(name, d)
	if !d.Has(robots.Habits) {
		return a
	}
	token, _, _ := strings.Cut(name, "/")
	if c, ok := crawlers.Lookup(token); ok {
		a.IgnoresStar = c.IgnoresStar
		if c.Fallback != "" {
			a.Fallbacks = append(a.Fallbacks, robots.NewAgent(c.Fallback, d).Token)
		}
	}
	return a
}
