package why

import "github.com/robobatch/robobatch/robots"

// Preferences are the lines of a robots.txt to a crawler on the allowed uses of the page of a path. All of
// it follows drafts. The names in JSON are the output columns' names.
type Preferences struct {
	Draft      string  `json:"draft"`                        // [robots.UsageRevision]
	Usage      *string `json:"content_usage"`                // "" if nothing is known; nil if no line counts
	UsageLine  int32   `json:"content_usage_line,omitempty"` // the first that counts; 0 is none
	Signal     *string `json:"content_signal"`               // nil if there is none
	SignalLine int32   `json:"content_signal_line,omitempty"`
	License    *string `json:"license"` // nil if there is none
	TrainAI    *bool   `json:"use_train_ai"`
	Search     *bool   `json:"use_search"`
	AIInput    *bool   `json:"use_ai_input"`

	// Lines are the ones that bind the crawler, first lines of Content-Usage: those that match, the longest
	// first, then the others, the nearest first. None are known of a pack.
	Lines []PreferenceLine `json:"lines,omitempty"`
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

	Signal bool `json:"-"` // it is Content-Signal
}

// NewPreferences returns two answers and a license, "" is none; nil if all of them are none.
func NewPreferences(u robots.UsageAnswer, s robots.SignalAnswer, license string) *Preferences {
	p := &Preferences{
		Draft: robots.UsageRevision, UsageLine: u.Line, SignalLine: s.Line,
		TrainAI: truthOf(u.TrainAI.And(s.AITrain)), Search: truthOf(u.Search.And(s.Search)), AIInput: truthOf(s.AIInput),
	}
	if u.Line > 0 {
		text := u.String()
		p.Usage = &text
	}
	if s.Line > 0 {
		text := s.String()
		p.Signal = &text
	}
	if license != "" {
		p.License = &license
	}
	if p.Usage == nil && p.Signal == nil && p.License == nil {
		return nil
	}
	return p
}

// Stated reports whether a line of Content-Usage or Content-Signal counts. p may be nil.
func (p *Preferences) Stated() bool { return p != nil && (p.Usage != nil || p.Signal != nil) }

// truthOf returns a preference as a column has it.
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
	usage, signals := said.Select(who)
	license, _ := said.License()
	var u robots.UsageAnswer
	if fetched {
		u = robots.DecideUsage(usage, path)
	}
	p := NewPreferences(u, robots.DecideSignal(signals, path), license)
	if len(usage)+len(signals) == 0 {
		return p
	}
	if p == nil {
		p = &Preferences{Draft: robots.UsageRevision}
	}
	for _, t := range robots.TryUsage(usage, path) {
		r := &usage[t.Rule]
		line := lineOf(t, r.Line, "Content-Usage: "+r.Value, r.Pattern, r.Length)
		line.Counts = t.Counts && fetched
		p.Lines = append(p.Lines, line)
	}
	for _, t := range robots.TrySignals(signals, path) {
		r := &signals[t.Rule]
		line := lineOf(t, r.Line, "Content-Signal: "+r.Value, r.Pattern, r.Length)
		line.Signal = true
		p.Lines = append(p.Lines, line)
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
