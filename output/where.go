package output

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A Where says which rows are written: those whose verdict is of one of its kinds. In the wide
// layout it is enough that the verdict for one agent is. The zero value means all rows.
type Where uint16

// The kinds of verdicts.
const (
	WhereDisallowed Where = 1 << iota // the agent may not fetch the URL
	WhereAllowed                      // the agent may fetch the URL
	WhereViolations                   // the crawler of the log fetched a disallowed URL
	WhereBad                          // the URL is bad, so that there is no answer
	WhereImpostors                    // the request is not of the crawler that it names

	WhereNoTrainAI // usage preferences, which are drafts, say no; and so on
	WhereNoSearch
	WhereNoAIInput
	WhereTrainAI
	WhereSearch
	WhereAIInput

	WhereInSitemap         // sitemaps have the URL
	WhereNotInSitemap      // they have it not
	WhereInSitemapDisallow // they have it, and the agent may not fetch it
)

// whereNames are the names of the kinds, by bit.
var whereNames = []string{
	"disallowed", "allowed", "violations", "bad", "impostors",
	"no_train_ai", "no_search", "no_ai_input", "yes_train_ai", "yes_search", "yes_ai_input",
	"in_sitemap", "not_in_sitemap", "in_sitemap_disallowed",
}

// wherePreferences are the kinds by preferences.
const wherePreferences = WhereNoTrainAI | WhereNoSearch | WhereNoAIInput | WhereTrainAI | WhereSearch | WhereAIInput

// whereSitemaps are the kinds by sitemaps.
const whereSitemaps = WhereInSitemap | WhereNotInSitemap | WhereInSitemapDisallow

// errWhere is the kind of the errors of ParseWhere.
var errWhere = errors.New("unknown kind of rows")

// WhereKinds returns the names of the kinds.
func WhereKinds() []string { return slices.Clone(whereNames) }

// ParseWhere reads a comma-separated list of kinds: rows of any of them are meant. Spaces around a
// name are dropped. The empty list is the zero value. The error joins an errWhere for every name
// that is none.
func ParseWhere(list string) (Where, error) {
	if strings.TrimSpace(list) == "" {
		return 0, nil
	}
	var w Where
	var errs []error
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(whereNames, name)
		if i < 0 {
			errs = append(errs, fmt.Errorf("%w %q: use one or more of %s, separated by commas", errWhere, name, strings.Join(whereNames, ", ")))
			continue
		}
		w |= 1 << i
	}
	return w, errors.Join(errs...)
}

// String returns the names of the kinds, separated by commas.
func (w Where) String() string {
	names := make([]string, 0, bits.OnesCount16(uint16(w)))
	for i, name := range whereNames {
		if w&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// NeedsLogAgents reports whether a kind is about the crawlers of the log.
func (w Where) NeedsLogAgents() bool { return w&(WhereViolations|WhereImpostors) != 0 }

// NeedsRanges reports whether a kind is about who the crawlers of the log were.
func (w Where) NeedsRanges() bool { return w&WhereImpostors != 0 }

// NeedsSitemaps reports whether a kind is about sitemaps.
func (w Where) NeedsSitemaps() bool { return w&whereSitemaps != 0 }

// Directives returns those whose lines the kinds are about.
func (w Where) Directives() []robots.Directive {
	if w&wherePreferences == 0 {
		return nil
	}
	return robots.PreferenceLines()
}

// matchesPreference reports whether a verdict is of a kind by preferences.
func (w Where) matchesPreference(p *engine.Preference) bool {
	for i, answer := range p.Uses() {
		if answer == robots.Refused && w&(WhereNoTrainAI<<i) != 0 || answer == robots.Permitted && w&(WhereTrainAI<<i) != 0 {
			return true
		}
	}
	return false
}

// matchesSitemap reports whether a verdict on a URL is of a kind by sitemaps.
func (w Where) matchesSitemap(l engine.Listed, access engine.Access) bool {
	if l == engine.IsListed {
		return w&WhereInSitemap != 0 || w&WhereInSitemapDisallow != 0 && access == engine.Denied
	}
	return l == engine.NotListed && w&WhereNotInSitemap != 0
}

// A filter picks the rows of a Where out of batches, before columns are made of them. It keeps its
// memory.
type filter struct {
	where  Where
	wide   bool
	agents int // verdicts of a URL

	access [engine.Allowed + 1]bool // the ones that are wanted
	change bool                     // changed verdicts are wanted
	old    engine.Batch             // of batch, if there is one
	batch  engine.Batch             // the picked rows of the last batch
	urls   []int32                  // rows of that batch, by row of batch
	picks  []int32                  // verdicts of that batch, by row of batch; in the long layout
}

// newFilter returns the filter for a Writer; nil if it writes all rows.
func newFilter(opt Options, agents int) *filter {
	if opt.Where == 0 && opt.Old == nil {
		return nil
	}
	f := &filter{where: opt.Where, wide: opt.Layout == Wide, agents: agents, change: opt.Old != nil}
	f.access[engine.Denied] = opt.Where&WhereDisallowed != 0
	f.access[engine.Allowed] = opt.Where&WhereAllowed != 0
	return f
}

// matches reports whether a verdict of the batch is wanted.
func (f *filter) matches(b *engine.Batch, i int) bool {
	if f.change {
		return b.Changes[i] != engine.Same
	}
	v := &b.Verdicts[i]
	return f.access[v.Access] ||
		f.where&WhereBad != 0 && v.Reason == engine.ReasonBadURL ||
		f.where&WhereViolations != 0 && b.Violations[i] == engine.Violated ||
		f.where&WhereImpostors != 0 && b.Verified[i] == ranges.No ||
		f.where&wherePreferences != 0 && f.where.matchesPreference(&b.Preferences[i]) ||
		f.where&whereSitemaps != 0 && f.where.matchesSitemap(b.Listed[i/f.agents], v.Access)
}

// apply returns the rows of b that are wanted; in the long layout each is a URL by itself,
// with its agent, as if it came from the log. They share the memory of b until release is called.
func (f *filter) apply(b *engine.Batch) *engine.Batch {
	f.urls, f.picks = f.urls[:0], f.picks[:0]
	for i := range b.Len() {
		for v := i * f.agents; v < (i+1)*f.agents; v++ {
			if !f.matches(b, v) {
				continue
			}
			f.urls = append(f.urls, int32(i))
			if f.wide {
				break
			}
			f.picks = append(f.picks, int32(v))
		}
	}
	if len(f.urls) == b.Len() && (f.wide || f.agents == 1) {
		return b
	}
	f.gather(b)
	return &f.batch
}

// release forgets the memory of the last batch.
func (f *filter) release() { f.batch.Data, f.batch.Strays = nil, nil }

// gather fills f.batch with the rows that were found.
func (f *filter) gather(b *engine.Batch) {
	to := &f.batch
	to.Input, to.Data, to.Strays = b.Input, b.Data, b.Strays
	to.URLs = pickRows(to.URLs, b.URLs, f.urls)
	to.Lines = pickRows(to.Lines, b.Lines, f.urls)
	to.Times = pickRows(to.Times, b.Times, f.urls)
	to.Sites = pickRows(to.Sites, b.Sites, f.urls)
	to.Rulings = pickRows(to.Rulings, b.Rulings, f.urls)
	to.Canonicals = pickRows(to.Canonicals, b.Canonicals, f.urls)
	to.Listed = pickRows(to.Listed, b.Listed, f.urls)
	to.Kept = slices.Grow(to.Kept[:0], len(b.Kept))[:len(b.Kept)]
	for i := range b.Kept {
		k, src := &to.Kept[i], &b.Kept[i]
		k.Kind = src.Kind
		k.Texts = pickRows(k.Texts, src.Texts, f.urls)
		k.Ints = pickRows(k.Ints, src.Ints, f.urls)
		k.Floats = pickRows(k.Floats, src.Floats, f.urls)
		k.Present = pickRows(k.Present, src.Present, f.urls)
	}
	if f.wide {
		to.Verdicts = to.Verdicts[:0]
		for _, url := range f.urls {
			to.Verdicts = append(to.Verdicts, b.Verdicts[int(url)*f.agents:][:f.agents]...)
		}
		to.Preferences = to.Preferences[:0]
		for _, url := range f.urls {
			if len(b.Preferences) > 0 {
				to.Preferences = append(to.Preferences, b.Preferences[int(url)*f.agents:][:f.agents]...)
			}
		}
		return
	}
	to.Verdicts = pickRows(to.Verdicts, b.Verdicts, f.picks)
	to.Preferences = pickRows(to.Preferences, b.Preferences, f.picks)
	to.Violations = pickRows(to.Violations, b.Violations, f.picks)
	to.Verified, to.Proofs = pickRows(to.Verified, b.Verified, f.picks), pickRows(to.Proofs, b.Proofs, f.picks)
	to.Agents = pickRows(to.Agents, b.Agents, f.urls)
	if f.change {
		to.Changes, to.Old = pickRows(to.Changes, b.Changes, f.picks), &f.old
		f.old.Rulings = pickRows(f.old.Rulings, b.Old.Rulings, f.urls)
		f.old.Verdicts = pickRows(f.old.Verdicts, b.Old.Verdicts, f.picks)
		f.old.Agents = pickRows(f.old.Agents, b.Old.Agents, f.urls)
	}
	if f.agents > 1 {
		for _, v := range f.picks {
			to.Agents = append(to.Agents, uint32(int(v)%f.agents))
		}
	}
}

// pickRows returns the values of the rows in the memory of dst. The column may be empty.
func pickRows[T any](dst, column []T, rows []int32) []T {
	dst = dst[:0]
	if len(column) == 0 {
		return dst
	}
	for _, row := range rows {
		dst = append(dst, column[row])
	}
	return dst
}
