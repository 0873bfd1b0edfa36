package why

import "github.com/robobatch/robobatch/robots"

// Preferences are the usage preferences of a robots.txt for a crawler and a page, according to drafts of standards.
// JSON names are those of output columns.
type Preferences struct {
	Draft      string  `json:"draft"`                        // [robots.UsageRevision]
	Usage      *string `json:"content_usage"`                // "" if the line states nothing known; nil if no line counts
	UsageLine  int32   `json:"content_usage_line,omitempty"` // the first line that counts; 0 if there is none
	Signal     *string `json:"content_signal"`               // nil if there is none
	SignalLine int32   `json:"content_signal_line,omitempty"`
	License    *string `json:"license"`                   // nil if there is none
	Policy     *bool   `json:"policy_train_ai,omitempty"` // nil if no rule of the group matches
	PolicyLine int32   `json:"policy_train_ai_line,omitempty"`
	TrainAI    *bool   `json:"use_train_ai"`
	Search     *bool   `json:"use_search"`
	AIInput    *bool   `json:"use_ai_input"`

	// Lines are the lines that bind the crawler. Lines of Content-Usage come first: those that match, the longest first,
	// then the others, the one that matches most bytes first. It is empty for a pack.
	Lines []PreferenceLine `json:"lines,omitempty"`

	answers robots.Answers
}

// A PreferenceLine is a line of preferences that binds the crawler, with the result of matching it.
type PreferenceLine struct {
	Line    int32  `json:"line"`
	Text    string `json:"text"`              // "Content-Usage: /a train-ai=n"
	Pattern string `json:"pattern,omitempty"` // normalised, from [robots.ReadablePattern]; "" means every path
	Matches bool   `json:"matches"`
	Length  int    `json:"length"`             // of Pattern: its precedence
	StopsAt int    `json:"stops_at,omitempty"` // see [Rule]
	Counts  bool   `json:"counts"`             // it is one of the deciding lines

	Source robots.Source `json:"-"`
}

// NewPreferences returns the preferences with these answers, and a license ("" if there is none), without Lines; nil if
// no line counts and there is no license.
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

// EachStated calls do for each source with a line that counts, with the number of the first such line, and the text of
// the source's column. p may be nil.
func (p *Preferences) EachStated(do func(s *robots.SourceSpec, line int32, text string)) {
	for source := range robots.NumSources {
		if p.Stated() && p.answers.Said[source].Line > 0 {
			do(&robots.Sources[source], p.answers.Said[source].Line, p.answers.Text(source))
		}
	}
}

// Use returns the preference for a use, combined from all sources. p may be nil.
func (p *Preferences) Use(u robots.Use) robots.Preference {
	if p == nil {
		return robots.Unstated
	}
	return p.answers.Uses()[u]
}

// truthOf returns the value of a column for a preference; nil if it is not stated.
func truthOf(p robots.Preference) *bool {
	if p == robots.Unstated {
		return nil
	}
	yes := p == robots.Permitted
	return &yes
}

// PreferencesOf returns the preferences of a robots.txt for a path, with all lines that bind the crawler; nil if there
// is neither such a line nor a license. fetched is whether the crawler may fetch the path, which must come from
// [robots.Dialect.Path].
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
			line := PreferenceLine{
				Line: r.Line, Text: spec.Key + r.Value, Pattern: robots.ReadablePattern(r.Pattern), Matches: t.Reach == len(r.Pattern),
				Length: r.Length, Counts: t.Counts && (fetched || !spec.Fetched), Source: robots.Source(source),
			}
			if !line.Matches {
				line.StopsAt = len(robots.ReadablePattern(r.Pattern[:t.Reach])) + 1
			}
			p.Lines = append(p.Lines, line)
		}
	}
	return p
}
