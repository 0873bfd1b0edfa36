package decide

import (
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// Uses are the preferences that the drafts Content-Usage and Content-Signal together state for a URL: whether a
// model may be trained on it, whether a search may show it, and whether it may be an input of a model, as the columns
// use_train_ai, use_search and use_ai_input have it.
type Uses [3]robots.Preference

// said are the preferences that bind a crawler.
type said struct {
	usage   []robots.UsageRule
	signals []robots.SignalRule
}

// isNone reports whether there are none.
func (s *said) isNone() bool { return len(s.usage)+len(s.signals) == 0 }

// sameSaid reports whether two crawlers are told the same, wherever it stands.
func sameSaid(a, b said) bool {
	return slices.EqualFunc(a.usage, b.usage, func(a, b robots.UsageRule) bool {
		return a.Pattern == b.Pattern && a.TrainAI == b.TrainAI && a.Search == b.Search
	}) && slices.EqualFunc(a.signals, b.signals, func(a, b robots.SignalRule) bool {
		return a.Pattern == b.Pattern && a.Search == b.Search && a.AIInput == b.AIInput && a.AITrain == b.AITrain
	})
}

// wishes are preferences, compiled. Of no use is more asked than who answers for it.
type wishes struct {
	usage   [2]question // of TrainAI and Search
	signals [3]question
	scratch automaton.Scratch
}

// A statement is a line's answer about one use.
type statement struct {
	pattern string
	length  int // of pattern, see [robots.Dialect.Length]
	answer  robots.Preference
}

// compileWishes compiles preferences.
func compileWishes(s *said) (*wishes, error) {
	var usage [2][]statement
	for _, r := range s.usage { // also if it says nothing: it hides shorter ones
		usage[0] = append(usage[0], statement{r.Pattern, r.Length, r.TrainAI})
		usage[1] = append(usage[1], statement{r.Pattern, r.Length, r.Search})
	}
	var signals [3][]statement
	for i := range s.signals {
		r := &s.signals[i]
		for use, answer := range (Uses{r.AITrain, r.Search, r.AIInput}) {
			if answer != robots.Unstated {
				signals[use] = append(signals[use], statement{r.Pattern, r.Length, answer})
			}
		}
	}
	w := &wishes{}
	for i := range usage {
		if err := w.usage[i].compile(usage[i]); err != nil {
			return nil, err
		}
	}
	for i := range signals {
		if err := w.signals[i].compile(signals[i]); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// of returns the answers for a path; Content-Usage says nothing of one that may not be fetched.
func (w *wishes) of(path []byte, fetched bool) (u Uses) {
	for i := range w.signals {
		u[i] = w.signals[i].ask(path, &w.scratch)
	}
	if fetched {
		for i := range w.usage {
			u[i] = u[i].And(w.usage[i].ask(path, &w.scratch))
		}
	}
	return u
}

// A question asks the preference of lines for one use: those that match with the longest pattern, all together.
type question struct {
	automaton *automaton.Automaton // nil if no line has a pattern
	answers   []robots.Preference  // by automaton.Rank.Position
	otherwise robots.Preference    // where no pattern matches
}

// compile compiles lines. Of equally long patterns the automaton takes the first: the one with the strongest
// answer, so it is the answer of all of them, see [robots.Preference.And].
func (q *question) compile(lines []statement) (err error) {
	var rules []automaton.Rule
	var answers []robots.Preference
	for _, answer := range [...]robots.Preference{robots.Refused, robots.Permitted, robots.Unstated} {
		for _, l := range lines {
			switch {
			case l.answer != answer:
			case l.pattern == "":
				q.otherwise = q.otherwise.And(answer)
			default:
				rules, answers = append(rules, automaton.Rule{Pattern: l.pattern, Uncounted: int32(len(l.pattern) - l.length)}), append(answers, answer)
			}
		}
	}
	if len(rules) == 0 {
		return nil
	}
	var order []int32
	if q.automaton, order, err = automaton.Compile(rules); err != nil {
		return err
	}
	for _, rule := range order {
		q.answers = append(q.answers, answers[rule])
	}
	return nil
}

// ask returns the answer for a path.
func (q *question) ask(path []byte, s *automaton.Scratch) robots.Preference {
	if q.automaton == nil {
		return q.otherwise
	}
	if rank := q.automaton.Match(path, s); rank != automaton.NoMatch {
		return q.answers[rank.Position()]
	}
	return q.otherwise
}

// A Wish is the preferences of two texts for a use, and the requests that have both.
type Wish struct {
	Use      int // index of Uses
	From, To robots.Preference
	Requests int64
	URLs     int
	Top      int32 // the URL with the most requests, of several the first
}

// wishCounts are the requests for each use, answer before and answer now.
type wishCounts struct {
	urls  int
	byURL [3][3][3][]int64 // nil is none
}

// addUses adds requests for a URL, by use, unless neither text states a preference.
func (c *wishCounts) addUses(url int32, from, to Uses, requests int64) {
	for use := range from {
		if from[use] == robots.Unstated && to[use] == robots.Unstated {
			continue
		}
		list := &c.byURL[use][from[use]][to[use]]
		if *list == nil {
			*list = make([]int64, c.urls)
		}
		(*list)[url] += requests
	}
}

// list returns the counts: by use, those that changed first.
func (c *wishCounts) list() (all []Wish) {
	for use := range c.byURL {
		for _, changed := range [...]bool{true, false} {
			for from := range c.byURL[use] {
				for to, requests := range c.byURL[use][from] {
					if requests != nil && changed == (from != to) {
						all = append(all, sumWish(Wish{Use: use, From: robots.Preference(from), To: robots.Preference(to)}, requests))
					}
				}
			}
		}
	}
	return all
}

// sumWish adds requests by URL to a wish that has none.
func sumWish(w Wish, requests []int64) Wish {
	for url, n := range requests {
		if n == 0 {
			continue
		}
		if w.URLs == 0 || n > requests[w.Top] {
			w.Top = int32(url)
		}
		w.URLs++
		w.Requests += n
	}
	return w
}
