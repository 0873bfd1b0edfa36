package diff

import (
	"reflect"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/robots"
)

// A PreferenceChange is the requests for which the answer about a use of the page changed, of Content-Usage
// and Content-Signal together.
type PreferenceChange struct {
	Use  string `json:"use"`  // "train-ai", "search" or "ai-input"
	From string `json:"from"` // "y", "n" or "unknown"
	To   string `json:"to"`
	Count
	Families     []Part `json:"families"` // as in [Change]
	MoreFamilies int    `json:"more_families"`
}

// FillPreferences adds changes of preferences, once the agents are there.
func (r *Report) FillPreferences(changes []aggregate.PreferenceChange) {
	for i := range changes {
		c := &changes[i]
		name := fieldtext.Valid(c.Agent)
		k := slices.IndexFunc(r.Agents, func(a Agent) bool { return a.Agent == name })
		if k < 0 {
			continue
		}
		a, count := &r.Agents[k], countOf(c.ChangeCount)
		if c.Use == aggregate.AnyUse {
			a.OtherPreference = count
			continue
		}
		a.Preferences = append(a.Preferences, PreferenceChange{
			Use: c.Use.String(), From: answerText(c.From), To: answerText(c.To), Count: count,
			Families: partsOf(c.Families), MoreFamilies: c.MoreFamilies,
		})
	}
}

// answerText returns a preference as check has it.
func answerText(p robots.Preference) string {
	return [...]string{robots.Unstated: "unknown", robots.Refused: "n", robots.Permitted: "y"}[p]
}

// eachPreferences calls show for each list of agents whose preferences changed alike.
func (r *Report) eachPreferences(show func(names []string, changes []PreferenceChange)) {
	for i := range r.Agents {
		changes := r.Agents[i].Preferences
		if len(changes) == 0 {
			continue
		}
		if names, first := r.sharers(i, func(a *Agent) bool { return reflect.DeepEqual(a.Preferences, changes) }); first {
			show(names, changes)
		}
	}
}

// label names the change.
func (c *PreferenceChange) label() string { return c.Use + ": " + c.From + " to " + c.To }
