// Package sitemaps compares the URLs of sitemaps with a log and with rules. It finds sitemap URLs that no crawler
// requested, that fail or that rules disallow, and requested URLs that are in no sitemap. Package report imports it.
//
// It counts in two steps. Each URL of the log comes once, with its requests. It sets a bit by its number in the
// [sitemap.Set], and updates a balance of its responses, because the log may spell one URL in several ways. Then the
// sitemaps are read again, since a Set does not store texts: each URL is evaluated for some crawlers, and its bits are
// counted. All numbers are therefore exact, and memory is three bytes per URL.
package sitemaps

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// The bits of a URL of sitemaps.
const (
	crawled uint8 = 1 << iota
	counted       // of the step that reads sitemaps
	missing       // see SetMissing
)

// Limits of a View and of the counts.
const (
	shownURLs  = 20
	shownRules = 20
	shownEach  = 3    // URLs of a rule
	maxRules   = 5000 // rules with a row of their own; URLs of further rules are counted together
	batchURLs  = 256

	mostDirectories = 1 << 14 // directories by which missing URLs are counted: the first ones, in the order of the sitemaps
)

// MaxCrawlers is the maximum number of crawlers of a log for which sitemap URLs are evaluated.
const MaxCrawlers = 10

// A URL is a URL of the log, with its number of requests.
type URL struct {
	Text     string
	Requests int64
}

// Counts count the URLs of the log and of sitemaps. Use New. They are for one goroutine.
type Counts struct {
	set    *sitemap.Set
	finder finder
	bits   []uint8
	failed []int16       // by URL, failed requests minus successful ones, limited to 16 bits; nil if all are 0
	far    map[int]int64 // by URL, the part of a difference that does not fit in failed
	asked  int64         // requests that SetMissing counted
	in     int64         // distinct URLs of the log at the origins of sitemaps: those that a sitemap lists
	out    int64         // and that none has
	others *aggregate.Largest[URL]
}

// New returns counts for the URLs of sitemaps. It keeps the set, and does not change it.
func New(set *sitemap.Set) *Counts {
	return &Counts{set: set, finder: finder{set: set}, bits: make([]uint8, set.Len()), others: aggregate.NewLargest[URL](shownURLs)}
}

// A finder finds URLs in a set.
type finder struct {
	set    *sitemap.Set
	prefix []byte // URL.Prefix of the last URL
	number uint32 // of its origin
	known  bool   // the sitemaps have URLs of it
	origin []byte
	path   []byte
}

// findURL returns the number of a URL in the set. listed is false if no sitemap lists it or it is invalid, and known
// is false if no sitemap has URLs of its origin. It is fastest if URLs of one origin are consecutive.
func (f *finder) findURL(url []byte) (index int, listed, known bool) {
	u, err := robots.SplitURL(url)
	if err != nil {
		return 0, false, false
	}
	if len(f.prefix) == 0 || string(u.Prefix) != string(f.prefix) {
		if f.origin, err = robots.AppendOrigin(f.origin[:0], u); err != nil {
			return 0, false, false
		}
		f.prefix = append(f.prefix[:0], u.Prefix...)
		f.number, f.known = f.set.Origin(f.origin)
	}
	if !f.known {
		return 0, false, false
	}
	var path []byte
	path, f.path = f.set.Dialect().Path(url[len(u.Prefix):], f.path)
	index, listed = f.set.Find(f.number, path)
	return index, listed, true
}

// AddURL counts a URL of the log, with its numbers of requests by crawlers, of successful ones and of failed ones.
// Call it once per URL. It does nothing without requests, or if no sitemap has URLs of the origin. It does not keep
// url.
func (c *Counts) AddURL(url []byte, requests, served, failed int64) {
	if requests == 0 {
		return
	}
	index, listed, known := c.finder.findURL(url)
	switch {
	case !known:
	case listed:
		c.in++
		c.bits[index] |= crawled
		c.addFailed(index, failed-served)
	default:
		c.out++
		if tie := aggregate.Hash(url); c.others.Takes(requests, tie) {
			c.others.AddItem(requests, tie, URL{string(url), requests})
		}
	}
}

// addFailed adds failed requests of a URL; a negative number adds successful ones.
func (c *Counts) addFailed(index int, requests int64) {
	if requests == 0 {
		return
	}
	if c.failed == nil {
		c.failed = make([]int16, len(c.bits))
	}
	far, ok := c.far[index]
	sum := far + int64(c.failed[index]) + requests
	switch {
	case !ok && sum == int64(int16(sum)):
		c.failed[index] = int16(sum)
	case c.far == nil:
		c.far = map[int]int64{}
		fallthrough
	default:
		c.failed[index], c.far[index] = 0, sum
	}
}

// SetMissing marks a URL that search crawlers do not find or that redirects, and counts their requests for it.
func (c *Counts) SetMissing(url []byte, requests int64) {
	if index, listed, _ := c.finder.findURL(url); listed {
		c.bits[index] |= missing
		c.asked += requests
	}
}

// Lists reports whether a sitemap lists a URL of the log.
func (c *Counts) Lists(url []byte) bool {
	_, listed, _ := c.finder.findURL(url)
	return listed
}

// A Crawler is a crawler whose access to sitemap URLs is checked.
type Crawler struct {
	Name   string
	Search bool // it fetches for a search engine
}

// An Offer is the number of sitemap URLs that a crawler may not fetch.
type Offer struct {
	Crawler
	Forbidden int64
}

// A Rule is a line of a robots.txt that disallows sitemap URLs.
type Rule struct {
	Origin   string // the first origin that has it
	Line     int64  // 0 if no rule decides
	Text     string // the rule; or why there is none
	URLs     int64  // URLs disallowed for at least one crawler
	Crawlers []Offer
	Examples []string

	last int64 // the number of the last URL
}

// A View is the panel of sitemaps.
type View struct {
	Files   int64 // sitemaps that were read
	Entries int64 // URLs in the sitemaps, including duplicates
	Listed  int64 // distinct URLs, whether crawled or not

	Crawled, Never, Failing int64
	Missing                 int64            // that SetMissing marked
	MissingIn               map[string]int64 // the same by first directory, for at most mostDirectories
	MissingAsked            int64            // requests for them
	Forbidden               int64            // to a crawler at least
	Closed                  int64            // to a search crawler at least
	Crawlers                []Offer

	NeverFirst, FailingFirst []string // examples: the first ones, in the order of the sitemaps

	Rules    []*Rule // the rules that disallow most URLs
	MoreURLs int64   // URLs disallowed by rules beyond maxRules; each counts once per crawler
	More     int64   // rules that are not shown
	Statuses bool

	Out, In int64 // distinct URLs that crawlers requested at the origins of sitemaps: not listed, and listed
	Others  []URL // URLs of Out with the most requests
}

// A Source reads the sitemaps again. It passes each URL to add, with the name and the line of the sitemap.
type Source func(add func(url []byte, name string, line int64) error) error

// Check reads the sitemaps again, evaluates their URLs for crawlers by the rules of a store, and returns the panel.
// Call it once, after all URLs of the log. With crawlers of the log, the store looks them up by name; otherwise they
// are the agents of the store. The error comes from the source or from the store.
func (c *Counts) Check(store *engine.Store, fromLog bool, crawlers []Crawler, each Source) (*View, error) {
	k := &checker{
		Counts: c, store: store, look: store.NewLookup(), eval: store.NewEvaluator(), fromLog: fromLog, rules: map[ruleKey]*Rule{},
		view: View{Listed: int64(c.set.Len()), In: c.in, Out: c.out},
	}
	for _, crawler := range crawlers {
		k.view.Crawlers = append(k.view.Crawlers, Offer{Crawler: crawler})
	}
	err := each(k.addURL)
	if err == nil {
		err = cmp.Or(k.decideBatch(), store.Err())
	}
	if err != nil {
		return nil, err
	}
	v := &k.view
	v.Others = k.others.Items()
	slices.SortStableFunc(v.Others, func(a, b URL) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Text, b.Text))
	})
	for _, r := range k.rules {
		v.Rules = append(v.Rules, r)
	}
	slices.SortFunc(v.Rules, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), strings.Compare(a.Origin, b.Origin), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	v.More = int64(max(0, len(v.Rules)-shownRules))
	v.Rules = v.Rules[:min(len(v.Rules), shownRules)]
	for _, r := range v.Rules {
		r.Crawlers = slices.DeleteFunc(r.Crawlers, func(o Offer) bool { return o.Forbidden == 0 })
	}
	slices.SortStableFunc(v.Crawlers, func(a, b Offer) int { return cmp.Compare(b.Forbidden, a.Forbidden) })
	return v, nil
}

// A ruleKey identifies a rule: the ruling, and its line; or the reason if no line decides.
type ruleKey struct {
	id     engine.RulingID
	line   int64
	reason engine.Reason
}

// A checker is the state of Check.
type checker struct {
	*Counts
	store   *engine.Store
	look    *engine.Lookup
	eval    *engine.Evaluator
	fromLog bool
	view    View
	rules   map[ruleKey]*Rule

	batch engine.Batch
	texts []engine.Span // of the URLs of batch
	urls  int64         // before them
}

// addURL counts a URL of a sitemap, the first time it occurs, and adds it to the batch. It evaluates the batch when it
// is full.
func (k *checker) addURL(url []byte, _ string, _ int64) error {
	k.view.Entries++
	index, listed, _ := k.finder.findURL(url)
	if !listed || k.bits[index]&counted != 0 {
		return nil
	}
	k.bits[index] |= counted
	if k.bits[index]&crawled != 0 {
		k.view.Crawled++
	} else {
		k.view.Never++
		k.view.NeverFirst = addFirst(k.view.NeverFirst, url)
	}
	if k.failed != nil && (k.failed[index] > 0 || k.far[index] > 0) { // more often than it was served
		k.view.Failing++
		k.view.FailingFirst = addFirst(k.view.FailingFirst, url)
	}
	if k.bits[index]&missing != 0 {
		k.view.Missing++
		k.view.MissingAsked = k.asked
		dir := "/"
		if u, err := robots.SplitURL(url); err == nil && len(url) > len(u.Prefix) && url[len(u.Prefix)] == '/' {
			path := url[len(u.Prefix):]
			dir = string(path[:2+bytes.IndexByte(path[1:], '/')])
		}
		if k.view.MissingIn == nil {
			k.view.MissingIn = map[string]int64{}
		}
		if _, known := k.view.MissingIn[dir]; known || len(k.view.MissingIn) < mostDirectories {
			k.view.MissingIn[dir]++
		}
	}
	b := &k.batch
	text := engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(url))}
	b.Data = append(b.Data, url...)
	rows := 1
	if k.fromLog {
		rows = len(k.view.Crawlers)
	}
	for n := range rows {
		b.URLs = append(b.URLs, text)
		b.Lines = append(b.Lines, int64(len(k.texts)*rows+n))
		if k.fromLog {
			name := k.view.Crawlers[n].Name
			b.UserAgents = append(b.UserAgents, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(name))})
			b.Data = append(b.Data, name...)
		}
	}
	if k.texts = append(k.texts, text); len(k.texts) == batchURLs || len(b.Data) > 1<<20 {
		return k.decideBatch()
	}
	return nil
}

// addFirst adds a URL to a list of examples, if the list is not full.
func addFirst(all []string, url []byte) []string {
	if len(all) < shownURLs {
		all = append(all, string(url))
	}
	return all
}

// decideBatch evaluates the URLs of the batch, counts those that crawlers may not fetch, and empties the batch.
func (k *checker) decideBatch() error {
	b := &k.batch
	k.eval.Evaluate(b)
	d := b.ForCrawlers()
	k.look.Use(d)
	crawlers := len(k.view.Crawlers)
	denied, closed := int64(-1), int64(-1) // numbers of the last URLs that were counted as disallowed, and as disallowed for a search crawler
	for row := range d.Len() {
		agents := 1
		if !k.fromLog {
			agents = crawlers
		}
		for a := range agents {
			v := d.Verdicts[row*agents+a]
			if v.Access != engine.Denied {
				continue
			}
			url, crawler := d.Lines[row], a
			if k.fromLog {
				url, crawler = d.Lines[row]/int64(crawlers), int(d.Lines[row]%int64(crawlers))
			}
			offer := &k.view.Crawlers[crawler]
			offer.Forbidden++
			if url != denied {
				denied = url
				k.view.Forbidden++
			}
			if offer.Search && url != closed {
				closed = url
				k.view.Closed++
			}
			k.addRule(d, row, a, crawler, url)
		}
	}
	k.urls += int64(len(k.texts))
	k.texts = k.texts[:0]
	b.Reset()
	return k.store.Err()
}

// addRule counts a URL for the rule that disallows it for an agent. row and a are those of the verdict in the batch,
// crawler is an index in View.Crawlers, and url is the number of the URL in the batch.
func (k *checker) addRule(b *engine.Batch, row, a, crawler int, url int64) {
	v, agent := b.Verdicts[row], a
	if k.fromLog {
		agent = int(b.Agents[row])
	} else {
		v = b.Verdicts[row*len(k.view.Crawlers)+a]
	}
	key, text := ruleKey{id: b.Rulings[row], reason: v.Reason}, v.Reason.String()
	if v.Rule != engine.NoRule {
		rule := k.look.Rule(key.id, agent, v.Rule)
		key.line, text = int64(rule.Line), rule.String()
	}
	r := k.rules[key]
	if r == nil {
		if len(k.rules) == maxRules {
			k.view.MoreURLs++
			return
		}
		r = &Rule{Line: key.line, Text: strings.Clone(text), Crawlers: slices.Clone(k.view.Crawlers), last: -1}
		for i := range r.Crawlers {
			r.Crawlers[i].Forbidden = 0
		}
		if _, stray := b.Sites[row].Stray(); !stray {
			r.Origin = strings.Clone(string(k.look.Origin(b.Sites[row])))
		}
		k.rules[key] = r
	}
	r.Crawlers[crawler].Forbidden++
	if n := k.urls + url; n != r.last {
		r.last = n
		r.URLs++
		if len(r.Examples) < shownEach {
			r.Examples = append(r.Examples, string(b.URL(row)))
		}
	}
}
