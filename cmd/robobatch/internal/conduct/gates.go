package conduct

import (
	"errors"
	"maps"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/conduct"
)

// A gateKind is a kind of count that -fail knows. count returns the count, and the total that a share is a share of.
type gateKind struct {
	name  string
	count func(r *conduct.Row) (count, of int64)
}

// gateKinds are all of them.
var gateKinds = func() []gateKind {
	kinds := []gateKind{
		{"violations", func(r *conduct.Row) (int64, int64) { return r.Violations, r.Requests - r.Impostors }},
		{"disallowed", func(r *conduct.Row) (int64, int64) { return r.Disallowed + r.Untimed, r.Requests - r.Impostors }},
	}
	for c := range conduct.NumConducts {
		kinds = append(kinds, gateKind{c.String(), func(r *conduct.Row) (int64, int64) { return r.Conducts[c], r.Disallowed }})
	}
	return append(kinds, gateKind{"gaps_short", func(r *conduct.Row) (int64, int64) { return r.ShortGaps, r.Gaps }})
}()

// gates are the names of gateKinds, for -fail.
var gates = func() ci.Kinds {
	k := ci.Kinds{Noun: "kind of conduct", Examples: "violations=0, never_asked=1% or gaps_short:GPTBot=10"}
	for _, kind := range gateKinds {
		k.Names = append(k.Names, kind.name)
	}
	return k
}()

// judgesNothing returns an error if the log lacks a field that -fail judges, so that a gate would pass, or fail, for that
// reason alone.
func (f *findings) judgesNothing(times, answers bool) error {
	if len(f.gates) == 0 {
		return nil
	}
	conducts := slices.ContainsFunc(f.gates, func(g ci.Gate) bool { return g.Kind != "violations" && g.Kind != "disallowed" })
	switch {
	case len(f.agents) == 0:
		return errors.New("-fail judges nothing: no request of the logs names a crawler")
	case conducts && !times:
		return errors.New("-fail judges nothing: no request of a crawler has a time: name the field of the time with -field time=name")
	case conducts && f.total.Robots > 0 && !answers:
		return errors.New("-fail judges nothing: no request of robots.txt has a status, so that crawlers seem never to have asked: give a log that has it")
	}
	return nil
}

// crawlers returns the names of all crawlers.
func (f *findings) crawlers() []string { return slices.Sorted(maps.Keys(f.agents)) }
