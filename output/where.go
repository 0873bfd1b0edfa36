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

// A Where is a set of kinds of rows to write. In the wide layout, a row is written if the verdict for any agent is of
// one of the kinds. The zero value means all rows.
type Where uint16

// The kinds of rows.
const (
	WhereDisallowed Where = 1 << iota // the agent may not fetch the URL
	WhereAllowed                      // the agent may fetch the URL
	WhereViolations                   // the crawler of the log fetched a disallowed URL
	WhereBad                          // the URL is invalid, so there is no verdict
	WhereImpostors                    // the request did not come from the crawler that its User-Agent names

	WhereNoTrainAI // usage preferences refuse AI training
	WhereNoSearch  // the same for search
	WhereNoAIInput // the same for AI input
	WhereTrainAI   // usage preferences permit AI training
	WhereSearch
	WhereAIInput

	WhereInSitemap         // sitemaps list the URL
	WhereNotInSitemap      // no sitemap lists the URL
	WhereInSitemapDisallow // sitemaps list the URL, but the agent may not fetch it
)

// whereNames has the name of each kind, by its bit.
var whereNames = []string{
	"disallowed", "allowed", "violations", "bad", "impostors",
	"no_train_ai", "no_search", "no_ai_input", "yes_train_ai", "yes_search", "yes_ai_input",
	"in_sitemap", "not_in_sitemap", "in_sitemap_disallowed",
}

// The kinds that depend on usage preferences, and on sitemaps.
const (
	wherePreferences = WhereNoTrainAI | WhereNoSearch | WhereNoAIInput | WhereTrainAI | WhereSearch | WhereAIInput
	whereSitemaps    = WhereInSitemap | WhereNotInSitemap | WhereInSitemapDisallow
)

// errWhere is the kind of error of ParseWhere.
var errWhere = errors.New("unknown kind of rows")

// WhereKinds returns the names of the kinds.
func WhereKinds() []string { return slices.Clone(whereNames) }

// ParseWhere parses a comma-separated list of kinds. Spaces around names are dropped; the empty list returns 0. The
// error joins an errWhere for every unknown name.
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

// NeedsLogAgents reports whether a kind requires agents that come from the log.
func (w Where) NeedsLogAgents() bool { return w&(WhereViolations|WhereImpostors) != 0 }

// NeedsRanges reports whether a kind requires that crawlers are verified by IP address.
func (w Where) NeedsRanges() bool { return w&WhereImpostors != 0 }

// NeedsSitemaps reports whether a kind requires sitemaps.
func (w Where) NeedsSitemaps() bool { return w&whereSitemaps != 0 }

// Directives returns the directives that the kinds depend on.
func (w Where) Directives() []robots.Directive {
	if w&wherePreferences == 0 {
		return nil
	}
	return robots.PreferenceLines()
}

// matchesPreference reports whether p refuses a use whose refusal w selects, or permits a use whose permission w
// selects.
func (w Where) matchesPreference(p *engine.Preference) bool {
	for i, answer := range p.Uses() {
		if answer == robots.Refused && w&(WhereNoTrainAI<<i) != 0 || answer == robots.Permitted && w&(WhereTrainAI<<i) != 0 {
			return true
		}
	}
	return false
}

// A filter selects rows from batches before columns are gathered. Its memory is reused.
type filter struct {
	where  Where
	wide   bool
	agents int // verdicts per URL

	access [engine.Allowed + 1]bool // the values of Access that where selects
	change bool                     // select only changed verdicts
	old    engine.Batch             // batch.Old, if change is set
	batch  engine.Batch             // the selected rows of the last batch
	urls   []int32                  // for each row of batch, its row in the last batch
	picks  []int32                  // for each row of batch, its verdict in the last batch; only in the long layout
}

// matches reports whether the filter selects verdict i of the batch. If f.change is set, it selects changed verdicts,
// and ignores f.where.
func (f *filter) matches(b *engine.Batch, i int) bool {
	if f.change {
		return b.Changes[i] != engine.Same
	}
	v := &b.Verdicts[i]
	switch {
	case f.access[v.Access],
		f.where&WhereBad != 0 && v.Reason == engine.ReasonBadURL,
		f.where&WhereViolations != 0 && b.Violations[i] == engine.Violated,
		f.where&WhereImpostors != 0 && b.Verified[i] == ranges.No,
		f.where&wherePreferences != 0 && f.where.matchesPreference(&b.Preferences[i]):
		return true
	case f.where&whereSitemaps == 0:
		return false
	}
	switch b.Listed[i/f.agents] {
	case engine.IsListed:
		return f.where&WhereInSitemap != 0 || f.where&WhereInSitemapDisallow != 0 && v.Access == engine.Denied
	case engine.NotListed:
		return f.where&WhereNotInSitemap != 0
	default:
		return false
	}
}

// selectRows returns the selected rows of b; b itself if all rows are selected and keep their form. In the long layout
// each verdict becomes a row with its own agent, like rows of a log with agents. The rows share memory with b, and are
// valid until the next call.
func (f *filter) selectRows(b *engine.Batch) *engine.Batch {
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
	f.copySelected(b)
	return &f.batch
}

// copySelected sets f.batch to the selected rows of b: the URLs in f.urls and, in the long layout, the verdicts in
// f.picks. It copies the columns, but shares the data that their texts refer to.
func (f *filter) copySelected(b *engine.Batch) {
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

// pickRows returns the values of these rows of the column, in the memory of dst. An absent (empty) column stays empty.
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
