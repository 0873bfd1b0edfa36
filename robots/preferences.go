package robots

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// UsageRevision names the texts that define Content-Usage, for outputs: the texts of the IETF's working group AIPREF of
// 19 August 2026. They are drafts that nobody has agreed on, and so are the others whose lines are preferences.
// draft-ietf-aipref-vocab-08 of September 2026 is newer. Only the abstract of
// draft-kelley-aipref-training-preference-signal-00 was read.
const UsageRevision = "aipref-2026-08"

// A Preference is the answer to whether something may be done with a page. The zero value is
// Unstated.
type Preference uint8

// The values of Preference.
const (
	Unstated  Preference = iota // not stated
	Refused                     // n in Content-Usage, no in Content-Signal
	Permitted                   // y in Content-Usage, yes in Content-Signal
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

// A Use is a use of a page that preferences allow or refuse.
type Use uint8

// The uses, and how many there are.
const (
	TrainAI Use = iota
	Search
	AIInput
	NumUses
)

// String returns the name of the use: "train-ai", "search" or "ai-input".
func (u Use) String() string { return [...]string{"train-ai", "search", "ai-input"}[u] }

// Uses are the answers about all uses.
type Uses [NumUses]Preference

// A Source is a kind of lines that state preferences, an index of Sources.
type Source uint8

// The sources, and how many there are.
const (
	ByUsage  Source = iota // draft-ietf-aipref-attach, section 3
	BySignal               // the policy of its operator, and draft-romm-aipref-contentsignals
	ByPolicy               // draft-kelley-aipref-training-preference-signal-00
	NumSources
)

// A SourceSpec describes how a source is read, and its possible values.
type SourceSpec struct {
	Directive Directive
	Key       string          // before a line's value, for people
	Short     string          // for people
	Column    string          // the output column's name; that of the line has "_line" after it
	Labels    [NumUses]string // its names of the uses; "" is one that it says nothing of
	values    [3]string       // the values of labels, by Preference
	Fetched   bool            // it says nothing of a page that may not be fetched
	Rules     bool            // its lines are Allow and Disallow: an Allow wins, and permits nothing that others do not
	Hides     bool            // a line without an answer, too, counts for every use

	read func(spec *SourceSpec, d Dialect, text string, s *Statement) // reads the text after the path
}

// Sources are all of them. A new one is one more row.
var Sources = [NumSources]SourceSpec{
	ByUsage: {
		Directive: UsageLines, Key: "Content-Usage: ", Short: "usage", Column: "content_usage", Labels: [NumUses]string{"train-ai", "search", ""},
		values: [...]string{Refused: "n", Permitted: "y"}, Fetched: true, Hides: true, read: readUsage,
	},
	BySignal: {
		Directive: SignalLines, Key: "Content-Signal: ", Short: "signal", Column: "content_signal", Labels: [NumUses]string{"ai-train", "search", "ai-input"},
		values: [...]string{Refused: "no", Permitted: "yes"}, read: readSignal,
	},
	ByPolicy: {
		Directive: PolicyLines, Key: "__usage_ai-training: ", Short: "policy", Column: "policy_train_ai", Labels: [NumUses]string{TrainAI: "train-ai"},
		values: [...]string{Refused: "n", Permitted: "y"}, Rules: true, read: readRule,
	},
}

// PreferenceLines returns the directives of all sources.
func PreferenceLines() (all []Directive) {
	for i := range Sources {
		all = append(all, Sources[i].Directive)
	}
	return all
}

// A Statement is one line of a source.
type Statement struct {
	Line    int32  // 1-based
	Value   string // as written, after the comment is cut and white space trimmed
	Path    string // the pattern as written; "" is every path
	Pattern string // Path in the normal form of the dialect, as in [Rule]
	Length  int    // of Pattern, see [Dialect.Length]: the priority

	Uses      Uses
	How       string // the value of use in Content-Signal, in lower case: immediate, reference, full or another token; "" means none
	Malformed bool   // it cannot be read, so that it says nothing
}

// A License is one license line (RSL 1.0). It is bound to no group.
type License struct {
	Line int32
	URL  string // as written
}

// A Bound is the lines that bind a crawler, by source, in file order.
type Bound [NumSources][]Statement

// Len returns how many lines there are.
func (b *Bound) Len() (n int) {
	for s := range b {
		n += len(b[s])
	}
	return n
}

// add appends lines.
func (b *Bound) add(o *Bound) {
	for s := range b {
		b[s] = append(b[s], o[s]...)
	}
}

// inherit adds those that bind a crawler whose groups have none of their source.
func (b *Bound) inherit(early *Bound) {
	for s := range b {
		if len(b[s]) == 0 {
			b[s] = early[s]
		}
	}
}

// Preferences are all that a robots.txt says about permitted uses of pages. They are immutable
// once read and safe for concurrent use. They never change whether a page may be fetched.
type Preferences struct {
	// Groups are runs of user-agent lines and the lines of preferences that follow, if there are
	// such lines. They are not the rules' groups: a run ends at Allow, Disallow, Content-Usage and
	// Content-Signal, and where the dialect has it in a section, at Crawl-delay.
	Groups  []PreferenceGroup
	Early   Bound // before the first group
	License License
}

// A PreferenceGroup is the message to some crawlers.
type PreferenceGroup struct {
	Group // its Rules are empty
	Bound
}

// PreferencesOf reads the preferences of a robots.txt. It never fails, and reads the lines that
// [Parse] reads; a body without rules that count has no preferences either.
func PreferencesOf(body []byte, d Dialect) *Preferences {
	p := &Preferences{}
	if len(body) > MaxBytes && d.Has(openIfTooLarge) {
		return p
	}
	for _, n := range NotesOf(body, d, append(PreferenceLines(), LicenseLines)) {
		if n.Directive == LicenseLines {
			p.License = License{n.Lines[0].Line, n.Lines[0].Value}
			continue
		}
		for i := len(p.Groups); i < len(n.Groups); i++ {
			p.Groups = append(p.Groups, PreferenceGroup{Group: n.Groups[i]})
		}
		s := SourceOf(n.Directive)
		for _, note := range n.Lines {
			bound := &p.Early
			if note.Group >= 0 {
				bound = &p.Groups[note.Group].Bound
			}
			bound[s] = append(bound[s], s.Statement(note, d))
		}
	}
	return p
}

// SourceOf returns the source of a directive; NumSources if there is none.
func SourceOf(directive Directive) (s Source) {
	for s < NumSources && Sources[s].Directive != directive {
		s++
	}
	return s
}

// Select returns the lines that bind the agent: the lines of the groups that [File.Binding] finds. Lines
// before the first group bind agents whose groups have none of their source, and those without a group.
func (p *Preferences) Select(a Agent) (b Bound) {
	f := &File{}
	for i := range p.Groups {
		f.Groups = append(f.Groups, p.Groups[i].Group)
	}
	for _, i := range f.Binding(a) {
		b.add(&p.Groups[i].Bound)
	}
	b.inherit(&p.Early)
	return b
}

// An Answer is the answer of a source for a path.
type Answer struct {
	Line int32 // the first that counts; 0 if none does
	Uses Uses
}

// Said is the answer of each source.
type Said [NumSources]Answer

// Uses returns the answers of all sources together.
func (a *Said) Uses() (all Uses) {
	for s := range a {
		for u, p := range a[s].Uses {
			if p == Refused || !Sources[s].Rules {
				all[u] = all[u].And(p)
			}
		}
	}
	return all
}

// Answers are the answers for a path.
type Answers struct {
	Said
	How string // as in Statement
}

// Decide returns the answer for a path, which may be fetched or not: that of all rules that match it with the
// longest pattern, together; of a source whose lines hide no others, for each use of those that have an
// answer. The path is one that [Dialect.Path] returned. Like [Decide], it tries one rule after the other and
// is meant to be obviously right, not fast.
func (b *Bound) Decide(path []byte, fetched bool) (a Answers) {
	for s := range b {
		spec, answer := &Sources[s], &a.Said[s]
		if spec.Fetched && !fetched || spec.Rules && IsTxt(path) {
			continue
		}
		counts := func(line int32) {
			if answer.Line == 0 || line < answer.Line {
				answer.Line = line
			}
		}
		for u := range NumUses {
			count := longest(b[s], path, func(r *Statement) bool { return spec.Hides || r.Uses[u] != Unstated })
			for i := range count {
				if next := count[i].Uses[u]; spec.Strength(next) > spec.Strength(answer.Uses[u]) {
					answer.Uses[u] = next
				}
			}
			if i := slices.IndexFunc(count, func(r Statement) bool { return spec.Hides || r.Uses[u] == answer.Uses[u] }); i >= 0 {
				counts(count[i].Line)
			}
		}
		if count := longest(b[s], path, func(r *Statement) bool { return r.How != "" }); len(count) > 0 {
			a.How = count[0].How
			counts(count[0].Line)
		}
	}
	return a
}

// Strength returns the rank of an answer among statements that count alike: the highest wins, see [Preference.And].
func (s *SourceSpec) Strength(p Preference) int {
	if s.Rules && p == Permitted {
		return int(Permitted + Refused)
	}
	return [...]int{Unstated: 0, Permitted: 1, Refused: 2}[p]
}

// longest returns the lines that have something and that match a path with the longest pattern.
func longest(lines []Statement, path []byte, has func(*Statement) bool) (count []Statement) {
	longest := 0
	for i := range lines {
		if r := &lines[i]; has(r) && r.Length >= longest && matches(r.Pattern, path) {
			if r.Length > longest {
				longest, count = r.Length, nil
			}
			count = append(count, *r)
		}
	}
	return count
}

// Text returns the answer of a source as its output column spells it: "search=y, train-ai=n". It is empty if
// nothing is known.
func (a *Answers) Text(s Source) string {
	var all []string
	spec := &Sources[s]
	for u, p := range a.Said[s].Uses {
		if p != Unstated {
			all = append(all, spec.Labels[u]+"="+spec.values[p])
		}
	}
	if s == BySignal && a.How != "" {
		all = append(all, "use="+a.How)
	}
	slices.Sort(all)
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

// Statement parses a line. Its Group is ignored.
func (s Source) Statement(n Note, d Dialect) Statement {
	path, text := cutPath(n.Value)
	r := Statement{Line: n.Line, Value: n.Value, Path: path}
	if path != "" {
		r.Pattern = d.pattern(path)
		r.Length = d.Length(r.Pattern)
	}
	Sources[s].read(&Sources[s], d, text, &r)
	return r
}

// readUsage reads a Dictionary of RFC 9651.
func readUsage(spec *SourceSpec, _ Dialect, text string, s *Statement) {
	dictionary, err := httpsfv.UnmarshalDictionary([]string{strings.TrimLeft(text, " \t")})
	if s.Malformed = err != nil; s.Malformed {
		return
	}
	for u, label := range spec.Labels {
		s.Uses[u] = usageOf(dictionary, label)
	}
}

// usageOf returns the preference of a category: the Tokens y and n are preferences, and nothing else.
func usageOf(dictionary *httpsfv.Dictionary, category string) Preference {
	member, _ := dictionary.Get(category)
	item, _ := member.(httpsfv.Item) // a list of items is not a value
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

// readRule reads a rule.
func readRule(_ *SourceSpec, d Dialect, text string, s *Statement) {
	key, value, _ := strings.Cut(text, ": ")
	s.Pattern = d.PatternOf(value)
	s.Length = d.Length(s.Pattern)
	if s.Uses[TrainAI] = Refused; (key == "Allow") != (value == "") {
		s.Uses[TrainAI] = Permitted
	}
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

// readSignal reads the pairs of a Content-Signal line.
func readSignal(spec *SourceSpec, _ Dialect, text string, s *Statement) {
	for _, p := range signalPairs(text) {
		switch u := slices.Index(spec.Labels[:], p.key); {
		case !p.valid:
		case u < 0:
			s.How = p.value
		case p.value == "yes":
			s.Uses[u] = Permitted
		default:
			s.Uses[u] = Refused
		}
	}
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
