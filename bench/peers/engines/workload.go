//go:build engines

package main

import (
	"fmt"
	"iter"
	"strings"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/robots"
)

// A site has the rules of a robots.txt for "*".
type site struct {
	rules []automaton.Rule
	own   *automaton.Automaton
	order []int32 // the rules by ascending precedence
}

// A workload has paths, one after the other, and their sites.
type workload struct {
	name  string
	sites []*site
	text  []byte
	ends  []int64 // end of each path in text
	of    []int32 // site of each path
	index map[robots.Origin]int32
	known map[string]int32 // sites by their robots.txt
}

func newWorkload(name string) *workload {
	return &workload{name: name, index: map[robots.Origin]int32{}, known: map[string]int32{}}
}

// noRules is the site of an origin without rules for "*".
const noRules = -1

// addOrigin adds the rules of an origin for "*". Origins with equal bodies share a site.
func (w *workload) addOrigin(origin robots.Origin, body []byte) error {
	n, known := w.known[string(body)]
	if !known {
		s := &site{rules: rulesOf(body)}
		n = noRules
		if len(s.rules) > 0 {
			var err error
			if s.own, s.order, err = automaton.Compile(s.rules); err != nil {
				return err
			}
			n = int32(len(w.sites))
			w.sites = append(w.sites, s)
		}
		w.known[string(body)] = n
	}
	w.index[origin] = n
	return nil
}

// rulesOf returns the rules of a robots.txt for "*", with those that index pages add.
func rulesOf(body []byte) (all []automaton.Rule) {
	rules, _ := robots.Parse(body, robots.Google).Select(robots.NewAgent("*", robots.Google))
	for _, r := range rules {
		all = append(all, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow})
		if pattern, ok := robots.Google.IndexPattern(r); ok {
			all = append(all, automaton.Rule{Pattern: pattern, Allow: true})
		}
	}
	return all
}

// addPath adds a path in normal form.
func (w *workload) addPath(n int32, path []byte) {
	w.text = append(w.text, path...)
	w.ends = append(w.ends, int64(len(w.text)))
	w.of = append(w.of, n)
}

// workloads returns the workloads of package peers, and the slowest files of the collection with paths of their
// origins.
func workloads(c *corpus.Corpus, lines, origins int) (all []*workload, err error) {
	add := func(w *workload, err2 error) {
		all = append(all, w)
		err = errorsFirst(err, err2)
	}
	add(oneSite("W1", madeup.Shape{Rules: 326, Wildcard: 16}.Make(), lines))
	add(oneSite("W1x", madeup.LargeShop.Make(), lines))
	add(oneSite("words", madeup.Words(), lines))
	add(fewRules(lines))
	responses, err2 := c.Responses()
	if err2 != nil {
		return nil, err2
	}
	w3 := newWorkload("W3")
	for _, r := range responses {
		err = errorsFirst(err, w3.addOrigin(r.Origin, r.Body))
	}
	err = errorsFirst(err, w3.addLog(c.Logs[0], lines))
	all = append(all, w3)
	add(madeUp(c, lines, origins))
	for _, origin := range slow {
		if w, err2 := oneFile(c, responses, origin); w != nil || err2 != nil {
			add(w, err2)
		}
	}
	for _, w := range all {
		w.keepUsed()
	}
	return all, err
}

// slow are the slowest files of the collection with paths in the logs.
var slow = []robots.Origin{
	"https://www.columbia.com", "https://www.sophos.com", "https://www.avianca.com", "https://www.loewe.com",
	"https://www.sportsdirect.com", "https://www.aeroflot.ru", "https://www.tf1.fr", "https://www.next.co.uk",
	"https://www.haaretz.com", "https://musescore.org",
}

func errorsFirst(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// keepUsed drops sites without paths, and renumbers the others in the order of their first paths.
func (w *workload) keepUsed() {
	number := make([]int32, len(w.sites))
	var used []*site
	for i, n := range w.of {
		if number[n] == 0 {
			used = append(used, w.sites[n])
			number[n] = int32(len(used))
		}
		w.of[i] = number[n] - 1
	}
	w.sites = used
}

// oneSite returns a workload of one site with generated rules, and its paths repeated to at least the given number of
// lines.
func oneSite(name string, set *madeup.RuleSet, lines int) (*workload, error) {
	w := newWorkload(name)
	err := w.addOrigin("https://www.shop.example", set.Body)
	for len(w.of) < lines {
		for _, path := range set.Paths {
			w.addPath(0, path)
		}
	}
	return w, err
}

// fewRules returns five sites with few rules without "*", as most busy sites have, and paths of 20 to 60 bytes.
func fewRules(lines int) (*workload, error) {
	w := newWorkload("few")
	sets := madeup.FewRules()
	for _, set := range sets {
		origin := robots.Origin(fmt.Sprintf("https://www.shop%d.example", len(w.index)))
		if err := w.addOrigin(origin, set.Body); err != nil {
			return nil, err
		}
		for i := range lines / len(sets) {
			w.addPath(w.index[origin], set.Paths[i%len(set.Paths)])
		}
	}
	return w, nil
}

// addLog adds the paths of a log whose origins have rules, until the workload has the given number of paths.
func (w *workload) addLog(l corpus.Log, most int) error {
	all, err := l.Batches()
	if err != nil {
		return err
	}
	return w.addURLs(func(yield func([]byte) bool) {
		for i := range all {
			for j := range all[i].Len() {
				if !yield(all[i].URL(j)) {
					return
				}
			}
		}
	}, most)
}

// addURLs adds the paths of URLs whose origins have rules, until the workload has the given number of paths. It skips
// invalid URLs.
func (w *workload) addURLs(urls iter.Seq[[]byte], most int) error {
	var origin, path, buf []byte
	for url := range urls {
		u, err := robots.SplitURL(url)
		if err != nil {
			continue
		}
		if origin, err = robots.AppendOrigin(origin[:0], u); err != nil {
			continue
		}
		if n, known := w.index[robots.Origin(origin)]; known && n != noRules {
			if len(w.of) == most {
				break
			}
			path, buf = robots.Google.Path(u.Path, buf)
			w.addPath(n, path)
		}
	}
	return nil
}

// madeUp returns a workload of generated origins, with their URLs in random order.
func madeUp(c *corpus.Corpus, lines, origins int) (*workload, error) {
	w := newWorkload("W4")
	g, err := madeup.New(c, madeup.Spec{Origins: origins, URLs: int64(lines), Seed: 1, Aimed: 25})
	if err != nil {
		return w, err
	}
	var text strings.Builder
	if err := g.WriteLog(&text, madeup.Shuffled, 0); err != nil {
		return w, err
	}
	for r := range g.Responses() {
		if err := w.addOrigin(r.Origin, r.Body); err != nil {
			return w, err
		}
	}
	return w, w.addURLs(func(yield func([]byte) bool) {
		for line := range strings.Lines(text.String()) {
			if !yield([]byte(strings.TrimSuffix(line, "\n"))) {
				return
			}
		}
	}, lines)
}

// oneFile returns a real file with the paths of its origin in the logs, repeated; nil if the logs have none, as those of
// the quick start.
func oneFile(c *corpus.Corpus, responses []robots.Response, origin robots.Origin) (*workload, error) {
	_, host, _ := strings.Cut(string(origin), "://")
	w := newWorkload(host)
	for _, r := range responses {
		if r.Origin == origin {
			if err := w.addOrigin(origin, r.Body); err != nil {
				return w, err
			}
		}
	}
	for _, l := range c.Logs {
		if err := w.addLog(l, 1<<30); err != nil {
			return w, err
		}
	}
	n := len(w.of)
	if n == 0 {
		return nil, nil
	}
	for len(w.of) < 8192 {
		for i := range n {
			w.addPath(w.of[i], w.path(i))
		}
	}
	return w, nil
}

// path returns path i.
func (w *workload) path(i int) []byte {
	begin := int64(0)
	if i > 0 {
		begin = w.ends[i-1]
	}
	return w.text[begin:w.ends[i]:w.ends[i]]
}
