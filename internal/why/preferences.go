package why

import "github.com/robobatch/robobatch/robots"

// Preferences are the lines of a robots.txt for a crawler about the allowed uses of a page. They follow drafts. JSON
// names are the names of output columns.
type Preferences struct {
	Draft      string  `json:"draft"`                        // [robots.UsageRevision]
	Usage      *string `json:"content_usage"`                // "" if nothing is known; nil if no line counts
	UsageLine  int32   `json:"content_usage_line,omitempty"` // the first that counts; 0 is none
	Signal     *string `json:"content_signal"`               // nil if there is none
	SignalLine int32   `json:"content_signal_line,omitempty"`
	License    *string `json:"license"`                   // nil if there is none
	Policy     *bool   `json:"policy_train_ai,omitempty"` // nil if no rule of the group matches
	PolicyLine int32   `json:"policy_train_ai_line,omitempty"`
	TrainAI    *bool   `json:"use_train_ai"`
	Search     *bool   `json:"use_search"`
	AIInput    *bool   `json:"use_ai_input"`

	// Lines are the ones that bind the crawler, first lines of Content-Usage: those that match, the longest
	// first, then the others, the nearest first. None are known about a pack.
	Lines []PreferenceLine `json:"lines,omitempty"`

	answers robots.Answers
}

// A PreferenceLine is a line of preferences that binds the crawler, and its fate.
type PreferenceLine struct {
	Line    int32  `json:"line"`
	Text    string `json:"text"`              // "Content-Usage: /a train-ai=n"
	Pattern string `json:"pattern,omitempty"` // in normal form, as [robots.ReadablePattern] spells it; "" is every path
	Matches bool   `json:"matches"`
	Length  int    `json:"length"`             // of Pattern, which is its priority
	StopsAt int    `json:"stops_at,omitempty"` // as in [Rule]
	Counts  bool   `json:"counts"`             // it is one of those that decide

	Source robots.Source `json:"-"`
}

// NewPreferences returns answers and a license ("" if there is none); nil if it would be empty.
func NewPreferences(a robots.Answers, license string) *Preferences {
	p := &Preferences{Draft: robots.UsageRevision, answers: a}
	p.EachStated(func(s *robots.SourceSpec, line int32, text string) {
		switch {
		case s.Rules:
			p.Policy, p.PolicyLine = truthOf(a.Said[robots.ByPolicy].Uses[robots.TrainAI]), line
		case s.Fetched:
			p.Usage, p.UsageLine = &text, line
		default:
			p.Signal, p.SignalLine = &text, line
		}
	})
	uses := a.Uses()
	p.TrainAI, p.Search, p.AIInput = truthOf(uses[robots.TrainAI]), truthOf(uses[robots.Search]), truthOf(uses[robots.AIInput])
	if license != "" {
		p.License = &license
	}
	if !p.Stated() && p.License == nil {
		return nil
	}
	return p
}

// Stated reports whether a line of a source counts. p may be nil.
func (p *Preferences) Stated() bool { return p != nil && p.answers.Said != (robots.Said{}) }

// EachStated calls do for each source of which a line counts, with that line and the column's text. p may be nil.
func (p *Preferences) EachStated(do func(s *robots.SourceSpec, line int32, text string)) {
	for source := range robots.NumSources {
		if p.Stated() && p.answers.Said[source].Line > 0 {
			do(&robots.Sources[source], p.answers.Said[source].Line, p.answers.Text(source))
		}
	}
}

// Use returns the answer about a use, by all sources. p may be nil.
func (p *Preferences) Use(u robots.Use) robots.Preference {
	if p == nil {
		return robots.Unstated
	}
	return p.answers.Uses()[u]
}

// truthOf returns a preference as the value of a column.
func truthOf(p robots.Preference) *bool {
	if p == robots.Unstated {
		return nil
	}
	yes := p == robots.Permitted
	return &yes
}

// PreferencesOf returns the preferences of a robots.txt for a path, with all lines that bind the crawler;
// nil if there is no such line, and no license. fetched is whether the crawler may fetch the path.
func PreferencesOf(said *robots.Preferences, who robots.Agent, path []byte, fetched bool) *Preferences {
	bound := said.Select(who)
	p := NewPreferences(bound.Decide(path, fetched), said.License.URL)
	if bound.Len() == 0 {
		return p
	}
	if p == nil {
		p = &Preferences{Draft: robots.UsageRevision}
	}
	for source, lines := range bound {
		spec := &robots.Sources[source]
		for _, t := range bound.Try(robots.Source(source), path) {
			r := &lines[t.Rule]
			line := lineOf(t, r.Line, spec.Key+r.Value, r.Pattern, r.Length)
			line.Source = robots.Source(source)
			line.Counts = t.Counts && (fetched || !spec.Fetched)
			p.Lines = append(p.Lines, line)
		}
	}
	return p
}

// lineOf returns a line and its fate.
func lineOf(t robots.PreferenceTrial, line int32, text, pattern string, length int) PreferenceLine {
	l := PreferenceLine{
		Line: line, Text: text, Pattern: robots.ReadablePattern(pattern), Matches: t.Reach == len(pattern), Length: length, Counts: t.Counts,
	}
	if !l.Matches {
		l.StopsAt = len(robots.ReadablePattern(pattern[:t.Reach])) + 1
	}
	return l
}
