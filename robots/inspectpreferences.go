package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// checkExtension checks a line that states preferences or a license, and records that there is one. Other lines are
// ignored.
func (in *inspector) checkExtension(l *line) {
	switch {
	case l.isKey(LicenseLines):
		if _, err := SplitURL([]byte(l.value)); err != nil {
			in.note(l.num, codeBadLicense, "not an absolute URL: %v", err)
		}
	case l.isKey(UsageLines):
		if !in.open {
			in.noteLoosePreference(l, "so it is ignored")
		}
		in.checkUsage(l)
	case l.isKey(SignalLines):
		if !in.open {
			in.noteLoosePreference(l, "so it applies only to crawlers whose group has no Content-Signal")
		}
		path, statement := cutPath(l.value)
		if path != "" {
			in.note(l.num, codeBadSignal, "no specification defines a path here; it is read as in Content-Usage")
		}
		given := map[string]bool{}
		for _, p := range signalPairs(statement) {
			switch {
			case !p.valid:
				in.note(l.num, codeBadSignal, "%q is dropped: %s", shorten(p.text), signalRemedy(p))
			case given[p.key]:
				in.note(l.num, codeBadSignal, "%s appears twice; the last one counts", p.key)
			}
			given[p.key] = given[p.key] || p.valid
		}
	default:
		return
	}
	in.preferences = true
}

// noteLoosePreference notes a line of preferences without a group. effect is the end of the sentence.
func (in *inspector) noteLoosePreference(l *line, effect string) {
	in.note(l.num, codeLooseSignal, "no user-agent line precedes it, %s", effect)
}

// checkUsage checks the value of a Content-Usage line: it notes each label or value without effect, or else why the
// whole line is invalid.
func (in *inspector) checkUsage(l *line) {
	path, statement := cutPath(l.value)
	parse := func(statement string) (*httpsfv.Dictionary, error) {
		return httpsfv.UnmarshalDictionary([]string{strings.TrimLeft(statement, " \t")})
	}
	dictionary, err := parse(statement)
	if err == nil {
		for _, key := range dictionary.Names() {
			switch draft := earlierLabels[key]; {
			case key == "train-ai", key == "search":
				if usageOf(dictionary, key) == Unstated {
					in.note(l.num, codeUnknownUsage, "the value of %s is neither y nor n, so it has no effect%s", key, usageRemedy(dictionary, key))
				}
			case draft != "":
				in.note(l.num, codeUnknownUsage, "%s is a label only of draft-ietf-aipref-vocab-%s, and now has no effect", key, draft)
			case key == "ai-train", key == "ai-input":
				in.note(l.num, codeUnknownUsage, "%s is a key of Content-Signal, and has no effect here", key)
			default:
				in.note(l.num, codeUnknownUsage, "no draft defines the label %s, so it has no effect", shorten(key))
			}
		}
		return
	}
	_, small := parse(lowerText(statement))
	switch {
	case path == "" && strings.HasPrefix(l.value, "*"):
		in.note(l.num, codeBadUsage, "the path does not start with /, so this has no effect: write /*")
	case small == nil:
		in.note(l.num, codeBadUsage, "a key contains capitals, so the line is invalid and has no effect: write %s", shorten(lowerText(trimSpace(statement))))
	default:
		in.note(l.num, codeBadUsage, "it is invalid, so it has no effect: write it as in train-ai=n, search=y")
	}
}

// earlierLabels maps the categories that the vocabulary has dropped to the drafts that defined them:
// draft-ietf-aipref-vocab-01 to -04.
var earlierLabels = map[string]string{
	"tdm": "01", "ai": "01", "genai": "01", "inference": "01", "all": "02", "ai-use": "02", "train-genai": "02 and 03", "bots": "03 and 04", "ai-output": "04",
}

// usageRemedy returns ": write KEY=y" or the same with n if the value of key clearly means that; "" otherwise. The
// value is neither of the tokens y and n.
func usageRemedy(dictionary *httpsfv.Dictionary, key string) string {
	member, _ := dictionary.Get(key)
	item, _ := member.(httpsfv.Item)
	var value string
	switch v := item.Value.(type) {
	case httpsfv.Token:
		value = string(v)
	case string:
		value = v
	}
	switch lowerText(value) {
	case "y", "yes":
		return ": write " + key + "=y"
	case "n", "no":
		return ": write " + key + "=n"
	}
	return ""
}

// signalRemedy returns what to write instead of a dropped pair: the correct pair if that is clear, otherwise the
// possible ones.
func signalRemedy(p signalPair) string {
	key := p.key
	if key == "train-ai" {
		key = "ai-train"
	}
	switch key {
	case "search", "ai-input", "ai-train":
		switch p.value {
		case "y", "yes":
			return "write " + key + "=yes"
		case "n", "no":
			return "write " + key + "=no"
		}
	}
	return "write search, ai-input or ai-train with =yes or =no, or use with a word"
}

// A preferenceSet holds the preferences for crawlers with the same groups.
type preferenceSet struct {
	names []ProductToken // of the crawlers; "*" stands for all without their own group
	Bound
	rules []agentRules // the distinct rules for these crawlers
}

// agentRules are the rules of some groups.
type agentRules struct {
	rules      []Rule
	candidates []candidate // the same rules in order of precedence
	work       int         // of [workOf]
	closed     bool        // they disallow everything
}

// A preferenceCheck checks the preferences of a file as a whole.
type preferenceCheck struct {
	in     *inspector
	said   *Preferences
	file   File            // the groups of the preferences
	budget int             // what is left of maxCovered
	policy []candidate     // the rules for policyToken
	found  map[string]bool // the notes so far
}

// checkPreferences sets Preferences of the report. It notes preferences for disallowed paths, contradictions, and
// preferences that do not bind the crawlers of a group. It does nothing if no line states preferences. All lines must
// have been checked before.
func (in *inspector) checkPreferences(body []byte) {
	if !in.preferences {
		return
	}
	w := &preferenceCheck{in: in, said: PreferencesOf(body, in.dialect), budget: maxCovered, found: map[string]bool{}}
	in.report.Preferences = w.said
	for i := range w.said.Groups {
		w.file.Groups = append(w.file.Groups, w.said.Groups[i].Group)
	}
	rules, _ := in.report.File.Select(Agent{Token: policyToken, IgnoresStar: true})
	w.policy = in.dialect.candidates(rules)
	stated, all := w.collectSets()
	for i := range stated {
		w.noteDisagreements(&stated[i])
		w.noteContradictions(&stated[i])
	}
	if all {
		w.noteForbidden(stated)
		w.noteHidden(stated)
	}
	w.noteMisplaced()
}

// note adds a diagnostic, unless there is one already for the same line, code and subject (about).
func (w *preferenceCheck) note(line int32, c Code, about, text string) {
	if key := fmt.Sprint(line, c, about); !w.found[key] {
		w.found[key] = true
		w.in.report.Diagnostics = append(w.in.report.Diagnostics, Diagnostic{Line: line, Code: c, Text: text})
	}
}

// collectSets returns the preferences of all crawlers that the file names, by sets of groups. all is false if a limit
// cut the list.
func (w *preferenceCheck) collectSets() (stated []preferenceSet, all bool) {
	sets, complete := w.file.bindings()
	byRules, whole := w.in.report.File.bindings()
	if !complete || !whole {
		return nil, false
	}
	ruled := map[string]int{} // in compiled, by name in lower case
	compiled := make([]agentRules, len(byRules))
	for i, set := range byRules {
		for _, name := range set.agents {
			ruled[strings.ToLower(string(name))] = i
		}
	}
	for _, set := range sets {
		next := preferenceSet{names: set.agents}
		for _, g := range set.groups {
			group := &w.said.Groups[g]
			if w.budget -= 100 * group.Len(); w.budget < 0 {
				return stated, false
			}
			next.add(&group.Bound)
		}
		next.addEarly(&w.said.Early)
		seen := map[int]bool{}
		for _, name := range set.agents {
			i := ruled[strings.ToLower(string(name))]
			if seen[i] {
				continue
			}
			seen[i] = true
			if compiled[i].candidates == nil {
				rules := w.in.report.File.rulesOf(byRules[i].groups)
				closing, _ := w.in.dialect.closingRule(rules, &w.budget)
				compiled[i] = agentRules{rules, w.in.dialect.candidates(rules), workOf(rules), closing != nil}
			}
			next.rules = append(next.rules, compiled[i])
		}
		stated = append(stated, next)
	}
	return stated, true
}

// noteForbidden notes lines of Content-Usage for paths that none of their crawlers may fetch. stated must be complete.
func (w *preferenceCheck) noteForbidden(stated []preferenceSet) {
	useful, bound := map[int32]bool{}, []Statement(nil)
	for i := range stated {
		for k := range stated[i].Bound[ByUsage] {
			u := &stated[i].Bound[ByUsage][k]
			if !useful[u.Line] {
				bound = append(bound, *u)
				useful[u.Line] = slices.ContainsFunc(stated[i].rules, func(r agentRules) bool { return !w.isForbidden(r.candidates, u) })
			}
		}
	}
	for i := range bound {
		if u := &bound[i]; !useful[u.Line] {
			w.note(u.Line, codeUsageDisallowed, "", "its crawlers may not fetch "+cmp.Or(shorten(u.Path), "any page")+", so Content-Usage has no effect there")
		}
	}
}

// isForbidden reports whether the rules disallow all paths of a line of Content-Usage: one rule disallows them, and no
// rule that may allow one of them precedes it. It is false if the budget is exhausted.
func (w *preferenceCheck) isForbidden(rules []candidate, u *Statement) bool {
	f := shapeOf(cmp.Or(u.Pattern, "/"))
	if w.in.dialect.AlwaysAllowed([]byte(f.text)) {
		return false
	}
	for i := range rules {
		r := &rules[i]
		if w.budget -= len(f.text) + len(r.shapes[0].text); w.budget < 0 {
			return false
		}
		switch {
		case !r.Allow && r.shapes[0].includes(&f, &w.budget):
			return true
		case r.Allow && slices.ContainsFunc(r.shapes, func(s shape) bool { return s.startsLike(&f) }):
			return false
		}
	}
	return false
}

// noteDisagreements notes lines of one source with the same pattern that contradict each other about a use. It is
// called for each set of crawlers.
func (w *preferenceCheck) noteDisagreements(set *preferenceSet) {
	type key struct{ pattern, name string }
	type statement struct {
		line int32
		says Preference
	}
	said := map[key]statement{}
	look := func(line int32, k key, says Preference) {
		if says == Unstated {
			return
		}
		before, known := said[k]
		if !known {
			said[k] = statement{line, says}
		} else if before.says != says {
			w.note(line, codePreferenceConflict, k.name, fmt.Sprintf("line %d contradicts %s for the same paths; the refusal takes precedence", before.line, k.name))
		}
	}
	for u := range NumUses {
		for source := range ByPolicy { // not ByPolicy: one of its rules takes precedence
			for i := range set.Bound[source] {
				s := &set.Bound[source][i]
				look(s.Line, key{s.Pattern, Sources[source].Labels[u]}, s.Uses[u])
			}
			clear(said)
		}
	}
}

// noteContradictions searches for paths where two sources contradict each other. It tries the example paths of each
// pattern, until the budget is exhausted.
func (w *preferenceCheck) noteContradictions(set *preferenceSet) {
	var patterns []string
	work, sources := 1, 0
	for _, lines := range set.Bound {
		sources += min(1, len(lines))
		for i := range lines {
			patterns, work = append(patterns, lines[i].Pattern), work+1+len(lines[i].Pattern)
		}
	}
	if sources < 2 {
		return
	}
	for i := range set.rules {
		work += set.rules[i].work
	}
	slices.Sort(patterns)
	for _, pattern := range slices.Compact(patterns) {
		for _, path := range examplePaths(cmp.Or(pattern, "/")) {
			if w.budget -= work * len(path); w.budget < 0 {
				return
			}
			w.noteContradictionsAt(set, path, slices.ContainsFunc(set.rules, func(r agentRules) bool {
				best := Decide(r.rules, path, w.in.dialect)
				return best < 0 || r.rules[best].Allow
			}))
		}
	}
}

// noteContradictionsAt notes each pair of sources that contradict each other on one path. fetched is whether some of
// the crawlers may fetch it.
func (w *preferenceCheck) noteContradictionsAt(set *preferenceSet, path []byte, fetched bool) {
	said := set.Decide(path, fetched).Said
	for u := range NumUses {
		for s := range said {
			for other := s + 1; other < len(said); other++ {
				if one, two := said[s].Uses[u], said[other].Uses[u]; one == Unstated || two == Unstated || one == two {
					continue
				}
				lines := [...]int32{set.lineOf(Source(s), path, u, said[s].Uses[u]), set.lineOf(Source(other), path, u, said[other].Uses[u])}
				w.note(lines[0], codePreferenceConflict, Sources[s].Labels[u]+" of "+Sources[other].Key, fmt.Sprintf("%s in line %d contradicts %s for paths such as %s; the refusal takes precedence",
					strings.TrimSuffix(Sources[other].Key, ": "), lines[1], Sources[s].Labels[u], shorten(string(path))))
			}
		}
	}
}

// lineOf returns the number of the first line of a source that counts for a path and states this preference for a use.
// There must be one.
func (of *preferenceSet) lineOf(s Source, path []byte, u Use, says Preference) int32 {
	count := longestMatches(of.Bound[s], path, func(r *Statement) bool { return Sources[s].Hides || r.Uses[u] != Unstated })
	return count[slices.IndexFunc(count, func(r Statement) bool { return r.Uses[u] == says })].Line
}

// noteHidden notes groups that keep their crawlers from obeying the preferences in the group of a fallback name or in
// that for "*". stated must be complete.
func (w *preferenceCheck) noteHidden(stated []preferenceSet) {
	byName := map[string]*preferenceSet{}
	for i := range stated {
		for _, name := range stated[i].names {
			byName[strings.ToLower(string(name))] = &stated[i]
		}
	}
	for i := range stated {
		own := &stated[i]
		names := map[*preferenceSet][]ProductToken{} // crawlers, by the preferences that do not bind them
		var order []*preferenceSet
		for _, name := range own.names {
			if name == "*" {
				continue
			}
			agent := NewAgent(string(name), w.in.dialect)
			var other *preferenceSet // would bind it if no group had its first name
			for _, fallback := range agent.Fallbacks {
				if other = byName[strings.ToLower(string(fallback))]; other != nil {
					break
				}
			}
			if other == nil && !agent.IgnoresStar {
				other = byName["*"]
			}
			if other == nil || other == own {
				continue
			}
			if names[other] == nil {
				order = append(order, other)
			}
			names[other] = append(names[other], name)
		}
		for _, other := range order {
			lines := w.lostPreferences(own, other)
			mayFetch := slices.ContainsFunc(own.rules, func(r agentRules) bool { return !r.closed }) // otherwise preferences have no effect
			if len(lines) == 0 || !mayFetch {
				continue
			}
			line := w.in.lines[strings.ToLower(string(names[other][0]))]
			w.note(line, codePreferenceHidden, string(other.names[0]), fmt.Sprintf("the preferences for %s do not bind %s: %s", namesText(other.names), namesText(names[other]), lines[0]))
		}
	}
}

// noteMisplaced notes preferences that bind other crawlers than meant. Preferences after the rules of the last group,
// if the file has none elsewhere, are often meant for all crawlers, but bind only those of that group. Preferences in a
// group for a use of pages bind no crawler.
func (w *preferenceCheck) noteMisplaced() {
	groups := w.said.Groups
	for i := range groups {
		g := &groups[i]
		for s, own := range g.Bound {
			if len(own) > 0 && len(g.Agents) > 0 && !g.Star && !slices.ContainsFunc(g.Agents, ProductToken.isCrawler) {
				w.note(own[0].Line, codePreferenceHidden, "a use", fmt.Sprintf("it applies to no crawler, because %s names a use of pages: put %s into the groups of crawlers, such as the group for *",
					g.Agents[0], strings.TrimSuffix(Sources[s].Key, ": ")))
			}
		}
	}
	if len(groups) < 2 || groups[len(groups)-1].Star || len(w.in.report.File.Groups) == 0 {
		return
	}
	last, rest, star := &groups[len(groups)-1], groups[:len(groups)-1], false
	all := w.said.Early // lines elsewhere
	for i := range rest {
		star = star || rest[i].Star
		all.add(&rest[i].Bound)
	}
	rules := w.in.report.File.Groups[len(w.in.report.File.Groups)-1].Rules
	if !star || !slices.ContainsFunc(last.Agents, ProductToken.isCrawler) || len(rules) == 0 {
		return
	}
	for s, own := range last.Bound {
		if len(all[s]) == 0 && len(own) > 0 && own[0].Line > rules[len(rules)-1].Line {
			w.note(own[0].Line, codePreferenceHidden, "the last group", "it applies only to "+namesText(last.Agents)+", because it is in that group: if it is meant for all, put it below User-agent: * and repeat it")
		}
	}
}

// lostPreferences describes the lines that bind the crawlers of other but not those of own: the lines of each source
// without a line in own. It leaves out lines without effect, and lines that the policy group, which binds all crawlers,
// repeats.
func (w *preferenceCheck) lostPreferences(own, other *preferenceSet) (lines []string) {
	for s, hidden := range other.Bound {
		if len(own.Bound[s]) > 0 {
			continue
		}
		for i := range hidden {
			h := &hidden[i]
			isPolicy := h.Uses == Uses{TrainAI: Refused} && h.How == "" && w.isForbidden(w.policy, h)
			if (h.Uses != Uses{} || h.How != "") && !isPolicy {
				lines = append(lines, fmt.Sprintf("line %d %s%s", h.Line, Sources[s].Key, shorten(h.Value)))
			}
		}
	}
	return lines
}
