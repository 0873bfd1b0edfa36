package robots

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// UsageRevision names the drafts that define Content-Usage, for outputs: those of the IETF's working group AIPREF of 19
// August 2026. Neither they nor the other drafts of preferences are standards. draft-ietf-aipref-vocab-08 of September
// 2026 is newer. Only the abstract of draft-kelley-aipref-training-preference-signal-00 was read.
const UsageRevision = "aipref-2026-08"

// A Preference says whether a page may be used for something. The zero value is Unstated.
type Preference uint8

// The values of Preference.
const (
	Unstated  Preference = iota // not stated
	Refused                     // n in Content-Usage, no in Content-Signal
	Permitted                   // y in Content-Usage, yes in Content-Signal
)

// And combines two statements of the same precedence: a refusal takes precedence over a permission, and a permission
// over Unstated.
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

// Uses are the preferences for all uses.
type Uses [NumUses]Preference

// A Source is a kind of lines that state preferences: an index of [Sources].
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
	Key       string          // printed before the value of a line
	Short     string          // a short name for people
	Column    string          // the name of the output column; the column of the line has "_line" after it
	Labels    [NumUses]string // its names of the uses; "" if it does not cover a use
	values    [3]string       // the values of labels, by Preference
	Fetched   bool            // it does not apply to pages that may not be fetched
	Rules     bool            // its lines are Allow and Disallow; an Allow takes precedence, and is not a permission for Said.Uses
	Hides     bool            // the longest pattern decides even for uses that its line does not mention

	read func(spec *SourceSpec, d Dialect, text string, s *Statement) // parses the text after the path
}

// Sources describes all sources. A new source is a new entry.
var Sources = [NumSources]SourceSpec{
	ByUsage: {
		Directive: UsageLines, Key: "Content-Usage: ", Short: "usage", Column: "content_usage", Labels: [NumUses]string{"train-ai", "search", ""},
		values: [...]string{Refused: "n", Permitted: "y"}, Fetched: true, Hides: true,
		read: func(spec *SourceSpec, _ Dialect, text string, s *Statement) {
			dictionary, err := httpsfv.UnmarshalDictionary([]string{strings.TrimLeft(text, " \t")})
			if s.Malformed = err != nil; s.Malformed {
				return
			}
			for u, label := range spec.Labels {
				s.Uses[u] = usageOf(dictionary, label)
			}
		},
	},
	BySignal: {
		Directive: SignalLines, Key: "Content-Signal: ", Short: "signal", Column: "content_signal", Labels: [NumUses]string{"ai-train", "search", "ai-input"},
		values: [...]string{Refused: "no", Permitted: "yes"},
		read: func(spec *SourceSpec, _ Dialect, text string, s *Statement) {
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
		},
	},
	ByPolicy: {
		Directive: PolicyLines, Key: "__usage_ai-training: ", Short: "policy", Column: "policy_train_ai", Labels: [NumUses]string{TrainAI: "train-ai"},
		values: [...]string{Refused: "n", Permitted: "y"}, Rules: true,
		read: func(_ *SourceSpec, d Dialect, text string, s *Statement) {
			key, value, _ := strings.Cut(text, ": ")
			s.Pattern = d.PatternOf(value)
			s.Length = d.Length(s.Pattern)
			if s.Uses[TrainAI] = Refused; (key == "Allow") != (value == "") {
				s.Uses[TrainAI] = Permitted
			}
		},
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
	Path    string // the pattern as written; "" matches every path
	Pattern string // Path in the normal form of the dialect, as in [Rule]
	Length  int    // of Pattern, see [Dialect.Length]: the priority

	Uses      Uses
	How       string // the value of use in Content-Signal, in lower case: immediate, reference, full or another token; "" means none
	Malformed bool   // it cannot be parsed, so it states nothing
}

// A License is one license line (RSL 1.0). It does not belong to a group.
type License struct {
	Line int32
	URL  string // as written
}

// A Bound holds the lines that bind a crawler, by source, in file order.
type Bound [NumSources][]Statement

// Len returns the number of lines.
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

// addEarly replaces the missing lines of each source without a line by its early lines. b then shares their memory.
func (b *Bound) addEarly(early *Bound) {
	for s := range b {
		if len(b[s]) == 0 {
			b[s] = early[s]
		}
	}
}

// Preferences hold what a robots.txt states about permitted uses of pages. They do not affect whether a page may be
// fetched. They are immutable and safe for concurrent use.
type Preferences struct {
	// Groups are runs of user-agent lines, with the lines of preferences that follow. They differ from the groups of
	// the rules: a run ends at Allow, Disallow, Content-Usage and Content-Signal, and also at Crawl-delay if it is part
	// of a section in the dialect.
	Groups  []PreferenceGroup
	Early   Bound // before the first group
	License License
}

// A PreferenceGroup holds user-agent lines, and the preferences for these crawlers.
type PreferenceGroup struct {
	Group // its Rules are empty
	Bound
}

// PreferencesOf reads the preferences of a robots.txt. It never fails, and the result, never nil, does not share the
// memory of body. It reads the same lines as [Parse]: if a body is too large for the dialect, it has no preferences.
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

// SourceOf returns the source of a directive, or NumSources if the directive is not that of a source.
func SourceOf(directive Directive) (s Source) {
	for s < NumSources && Sources[s].Directive != directive {
		s++
	}
	return s
}

// Select returns the lines that bind the agent: those of the groups that [File.Binding] returns, and for each source
// without a line in these groups, its lines before the first group. The result may share memory with p: do not change
// the lines.
func (p *Preferences) Select(a Agent) (b Bound) {
	f := &File{}
	for i := range p.Groups {
		f.Groups = append(f.Groups, p.Groups[i].Group)
	}
	for _, i := range f.Binding(a) {
		b.add(&p.Groups[i].Bound)
	}
	b.addEarly(&p.Early)
	return b
}

// An Answer is what a source states for a path.
type Answer struct {
	Line int32 // the first line that counts; 0 if none does
	Uses Uses
}

// Said is the answer of each source.
type Said [NumSources]Answer

// Uses combines the answers of all sources for each use, see [Preference.And]. A permission counts only from sources
// without Rules.
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

// Decide returns the answers for a path, which must be one that [Dialect.Path] returned. fetched is whether the path
// may be fetched; if not, sources with Fetched state nothing. The longest matching pattern decides: all lines with that
// length together. In a source without Hides, lines that do not mention a use are ignored for that use. Like [Decide],
// it is written to be obviously correct, and slow.
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
			count := longestMatches(b[s], path, func(r *Statement) bool { return spec.Hides || r.Uses[u] != Unstated })
			for i := range count {
				if next := count[i].Uses[u]; spec.Strength(next) > spec.Strength(answer.Uses[u]) {
					answer.Uses[u] = next
				}
			}
			if i := slices.IndexFunc(count, func(r Statement) bool { return spec.Hides || r.Uses[u] == answer.Uses[u] }); i >= 0 {
				counts(count[i].Line)
			}
		}
		if count := longestMatches(b[s], path, func(r *Statement) bool { return r.How != "" }); len(count) > 0 {
			a.How = count[0].How
			counts(count[0].Line)
		}
	}
	return a
}

// Strength returns the rank of a preference among statements of the same length: the highest decides, see
// [Preference.And].
func (s *SourceSpec) Strength(p Preference) int {
	if s.Rules && p == Permitted {
		return int(Permitted + Refused)
	}
	return [...]int{Unstated: 0, Permitted: 1, Refused: 2}[p]
}

// longestMatches returns the lines with the longest pattern among those that match a path and for which has returns
// true, in their order; nil if there is none.
func longestMatches(lines []Statement, path []byte, has func(*Statement) bool) (count []Statement) {
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

// Text returns the answer of a source as in its output column: "search=y, train-ai=n". It is "" if nothing is stated.
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

// cutPath splits the value of a line of preferences into a path and a statement. A path starts with "/", and ends
// before the first space or tab; path is "" if the value has none. The statement may begin with blanks.
func cutPath(value string) (path, statement string) {
	if !strings.HasPrefix(value, "/") {
		return "", value
	}
	if i := strings.IndexAny(value, " \t"); i >= 0 {
		return value[:i], value[i:]
	}
	return value, ""
}

// Statement parses a line of the source. It ignores n.Group. A malformed line states nothing.
func (s Source) Statement(n Note, d Dialect) Statement {
	path, text := cutPath(n.Value)
	r := Statement{Line: n.Line, Value: n.Value, Path: path}
	if path != "" {
		r.Pattern = d.normalPattern(path)
		r.Length = d.Length(r.Pattern)
	}
	Sources[s].read(&Sources[s], d, text, &r)
	return r
}

// usageOf returns the preference for a category in a Content-Usage line. Only the Tokens y and n are preferences.
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

// signalPairs splits the statement of a Content-Signal line at the commas, and checks each pair. Invalid pairs are in
// the result.
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

// lowerText returns a text with its ASCII letters in lower case.
func lowerText(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// isToken reports whether a text is a token of HTTP (RFC 9110 section 5.6.2). An empty text is not one.
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
