package robots

import (
	"cmp"
	"strings"

	"github.com/dunglas/httpsfv"
)

// UsageRevision names the texts that define Content-Usage, for outputs: the texts of the IETF's
// working group AIPREF of 19 August 2026. They are drafts that nobody has agreed on, and so are the
// others whose lines are preferences.
const UsageRevision = "aipref-2026-08"

// A Preference is the answer to whether something may be done with a page. The zero value is
// Unstated.
type Preference uint8

// The values of Preference.
const (
	Unstated  Preference = iota // nobody said
	Refused                     // n of Content-Usage, no of Content-Signal
	Permitted                   // y of Content-Usage, yes of Content-Signal
)

// And returns the answer of two statements that count alike: a refusal wins over a permission, and
// that over nothing.
func (p Preference) And(q Preference) Preference {
	switch {
	case p == Refused || q == Refused:
		return Refused
	case p == Permitted || q == Permitted:
		return Permitted
	}
	return Unstated
}

// A UsageRule is one Content-Usage line of a group (draft-ietf-aipref-attach, section 3).
type UsageRule struct {
	Line    int32  // 1-based
	Value   string // as written, after the comment is cut and white space trimmed
	Path    string // the pattern as written; "" is every path
	Pattern string // Path in the normal form of the dialect, as in [Rule]
	Length  int    // of Pattern, see [Dialect.Length]: the priority

	TrainAI, Search Preference
	Malformed       bool // the statement is no Dictionary of RFC 9651, so that it says nothing
}

// A SignalRule is one Content-Signal line.
type SignalRule struct {
	Line          int32
	Value         string // as in UsageRule
	Path, Pattern string // the same; no specification has a path, but generators write one
	Length        int    // the same

	Search, AIInput, AITrain Preference
	Use                      string // in lower case: immediate, reference, full or another token; "" is none
}

// A License is one license line (RSL 1.0). It is bound to no group.
type License struct {
	Line  int32
	URL   string // as written
	Valid bool   // it is an absolute URL; others are ignored
}

// Preferences are all that a robots.txt says about permitted uses of pages. They are immutable
// once read and safe for concurrent use. They never change whether a page may be fetched.
type Preferences struct {
	// Groups are runs of user-agent lines and the lines of preferences that follow. They are not
	// the rules' groups: a run ends at Allow, Disallow, Content-Usage and Content-Signal, and
	// where the dialect has it in a section, at Crawl-delay.
	Groups   []PreferenceGroup
	Early    []SignalRule // before the first group
	Licenses []License
}

// A PreferenceGroup is the message to some crawlers.
type PreferenceGroup struct {
	Group   // its Rules are empty
	Usage   []UsageRule
	Signals []SignalRule
}

// PreferencesOf reads the preferences of a robots.txt. It never fails, and reads the lines that
// [Parse] reads; a body without rules that count has no preferences either.
func PreferencesOf(body []byte, d Dialect) *Preferences {
	p := &Preferences{}
	if len(body) > MaxBytes && d.Has(openIfTooLarge) {
		return p
	}
	open, ended := false, false // there is a group; its run of user-agent lines has ended
	lines := newScanner(string(wholeLines(body)), d)
	var l line
	for lines.next(&l) {
		switch {
		case l.kind == kindUserAgent:
			if !open || ended {
				p.Groups = append(p.Groups, PreferenceGroup{Group: Group{Line: l.num}})
			}
			open, ended = true, false
			p.Groups[len(p.Groups)-1].addAgent(l.value, d)
		case l.kind == kindAllow, l.kind == kindDisallow, l.kind == kindCrawlDelay && d.Has(delayInSection):
			ended = true
		case l.isKey(UsageLines):
			if open {
				g := &p.Groups[len(p.Groups)-1]
				g.Usage = append(g.Usage, d.UsageRule(Note{Line: l.num, Value: l.value}))
			}
			ended = true
		case l.isKey(SignalLines):
			if open {
				g := &p.Groups[len(p.Groups)-1]
				g.Signals = append(g.Signals, d.SignalRule(Note{Line: l.num, Value: l.value}))
			} else if len(p.Groups) == 0 {
				p.Early = append(p.Early, d.SignalRule(Note{Line: l.num, Value: l.value}))
			}
			ended = true
		case l.isKey(LicenseLines):
			p.Licenses = append(p.Licenses, License{l.num, l.value, validLicense(d, l.value)})
		}
	}
	return p
}

// Select returns the lines that bind the agent, in file order: the lines of the groups that
// [File.Binding] finds. Lines of Content-Signal before the first group bind agents whose groups have
// none, and those without a group.
func (p *Preferences) Select(a Agent) (usage []UsageRule, signals []SignalRule) {
	f := &File{}
	for i := range p.Groups {
		f.Groups = append(f.Groups, p.Groups[i].Group)
	}
	for _, i := range f.Binding(a) {
		usage = append(usage, p.Groups[i].Usage...)
		signals = append(signals, p.Groups[i].Signals...)
	}
	if len(signals) == 0 {
		signals = p.Early
	}
	return usage, signals
}

// License returns the URL of the first license line that is valid, and its line; "" and 0 if there
// is none.
func (p *Preferences) License() (url string, line int32) {
	for _, l := range p.Licenses {
		if l.Valid {
			return l.URL, l.Line
		}
	}
	return "", 0
}

// A UsageAnswer is the answer of Content-Usage for a path.
type UsageAnswer struct {
	Line            int32 // of the first rule that counts; 0 if none does
	TrainAI, Search Preference
}

// DecideUsage returns the rules' answer for a path that may be fetched: the answers of all rules that
// match it with the longest pattern, together. The path is one that [Dialect.Path] returned. Like
// [Decide], it tries one rule after the other and is meant to be obviously right, not fast.
func DecideUsage(rules []UsageRule, path []byte) (a UsageAnswer) {
	longest := -1
	for _, r := range rules {
		if r.Length > longest && matches(r.Pattern, path) {
			longest = r.Length
		}
	}
	for _, r := range rules {
		if r.Length == longest && matches(r.Pattern, path) {
			a.Line = cmp.Or(a.Line, r.Line)
			a.TrainAI = a.TrainAI.And(r.TrainAI)
			a.Search = a.Search.And(r.Search)
		}
	}
	return a
}

// String returns the answer as the output column content_usage spells it: "search=y, train-ai=n". It is
// empty if nothing is known.
func (a UsageAnswer) String() string {
	return joinPairs("n", "y", pair{"search", a.Search}, pair{"train-ai", a.TrainAI})
}

// A SignalAnswer is the answer of Content-Signal for a path.
type SignalAnswer struct {
	Line                     int32 // of the first rule that gave one of the values; 0 if none did
	Search, AIInput, AITrain Preference
	Use                      string // "" if none
}

// DecideSignal returns the rules' answer for a path, as DecideUsage does. Of each key only the rules
// that have it count, of Use only the first of them.
func DecideSignal(rules []SignalRule, path []byte) (a SignalAnswer) {
	gave := func(line int32) {
		if a.Line == 0 || line < a.Line {
			a.Line = line
		}
	}
	for _, key := range []struct {
		of     func(*SignalRule) Preference
		answer *Preference
	}{
		{func(r *SignalRule) Preference { return r.Search }, &a.Search},
		{func(r *SignalRule) Preference { return r.AIInput }, &a.AIInput},
		{func(r *SignalRule) Preference { return r.AITrain }, &a.AITrain},
	} {
		count := longestSignals(rules, path, func(r *SignalRule) bool { return key.of(r) != Unstated })
		for i := range count {
			*key.answer = key.answer.And(key.of(&count[i]))
		}
		for i := range count {
			if key.of(&count[i]) == *key.answer {
				gave(count[i].Line)
				break
			}
		}
	}
	if count := longestSignals(rules, path, func(r *SignalRule) bool { return r.Use != "" }); len(count) > 0 {
		a.Use = count[0].Use
		gave(count[0].Line)
	}
	return a
}

// longestSignals returns the rules that have a key and that match a path with the longest pattern.
func longestSignals(rules []SignalRule, path []byte, has func(*SignalRule) bool) (count []SignalRule) {
	longest := -1
	for i := range rules {
		if r := &rules[i]; has(r) && r.Length > longest && matches(r.Pattern, path) {
			longest = r.Length
		}
	}
	for i := range rules {
		if r := &rules[i]; has(r) && r.Length == longest && matches(r.Pattern, path) {
			count = append(count, *r)
		}
	}
	return count
}

// String returns the answer as the output column content_signal spells it: "ai-train=no, search=yes". It
// is empty if there is none.
func (a SignalAnswer) String() string {
	text := joinPairs("no", "yes", pair{"ai-input", a.AIInput}, pair{"ai-train", a.AITrain}, pair{"search", a.Search})
	if a.Use == "" {
		return text
	}
	if text != "" {
		text += ", "
	}
	return text + "use=" + a.Use
}

// A pair is a category and its answer.
type pair struct {
	key    string
	answer Preference
}

// joinPairs returns the pairs that are stated.
func joinPairs(refused, permitted string, pairs ...pair) string {
	var all []string
	for _, p := range pairs {
		switch p.answer {
		case Refused:
			all = append(all, p.key+"="+refused)
		case Permitted:
			all = append(all, p.key+"="+permitted)
		case Unstated:
		}
	}
	return strings.Join(all, ", ")
}

// cutPath splits the value of a line of preferences: a path that starts with "/" ends before the first
// space or tab, and the rest is the statement.
func cutPath(value string) (path, statement string) {
	if !strings.HasPrefix(value, "/") {
		return "", value
	}
	if i := strings.IndexAny(value, " \t"); i >= 0 {
		return value[:i], value[i:]
	}
	return value, ""
}

// UsageRule parses a Content-Usage line. Its Group is ignored.
func (d Dialect) UsageRule(n Note) UsageRule {
	path, statement := cutPath(n.Value)
	r := UsageRule{Line: n.Line, Value: n.Value, Path: path}
	if path != "" {
		r.Pattern = d.pattern(path)
		r.Length = d.Length(r.Pattern)
	}
	dictionary, err := httpsfv.UnmarshalDictionary([]string{strings.TrimLeft(statement, " \t")})
	if err != nil {
		r.Malformed = true
		return r
	}
	r.TrainAI, r.Search = usageOf(dictionary, "train-ai"), usageOf(dictionary, "search")
	return r
}

// usageOf returns the preference of a category: the Tokens y and n are preferences, and nothing else.
func usageOf(dictionary *httpsfv.Dictionary, category string) Preference {
	member, _ := dictionary.Get(category)
	item, _ := member.(httpsfv.Item) // a list of items is none
	switch item.Value {
	case httpsfv.Token("y"):
		return Permitted
	case httpsfv.Token("n"):
		return Refused
	}
	return Unstated
}

// A signalPair is one pair of a Content-Signal line.
type signalPair struct {
	text       string // as written, trimmed
	key, value string // in lower case
	valid      bool   // others are dropped
}

// signalPairs splits the statement of a Content-Signal line.
func signalPairs(statement string) (all []signalPair) {
	for text := range strings.SplitSeq(statement, ",") {
		text = trimSpace(text)
		key, value, ok := strings.Cut(text, "=")
		p := signalPair{text: text, key: lowerText(trimSpace(key)), value: lowerText(trimSpace(value))}
		switch p.key {
		case "search", "ai-input", "ai-train":
			p.valid = ok && (p.value == "yes" || p.value == "no")
		case "use":
			p.valid = ok && isToken(p.value)
		}
		all = append(all, p)
	}
	return all
}

// SignalRule parses a Content-Signal line. Its Group is ignored.
func (d Dialect) SignalRule(n Note) SignalRule {
	path, statement := cutPath(n.Value)
	r := SignalRule{Line: n.Line, Value: n.Value, Path: path}
	if path != "" {
		r.Pattern = d.pattern(path)
		r.Length = d.Length(r.Pattern)
	}
	for _, p := range signalPairs(statement) {
		answer := Refused
		if p.value == "yes" {
			answer = Permitted
		}
		switch {
		case !p.valid:
		case p.key == "search":
			r.Search = answer
		case p.key == "ai-input":
			r.AIInput = answer
		case p.key == "ai-train":
			r.AITrain = answer
		case p.key == "use":
			r.Use = p.value
		}
	}
	return r
}

// lowerText returns a text with the letters of ASCII in lower case.
func lowerText(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// isToken reports whether a text is a token of HTTP (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if b := s[i]; !isLetter(b) && (b < '0' || b > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", b) < 0 {
			return false
		}
	}
	return s != ""
}

// validLicense reports whether a value fits a license line.
func validLicense(_ Dialect, value string) bool {
	_, err := SplitURL([]byte(value))
	return err == nil
}
