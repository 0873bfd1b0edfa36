package output

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/robots"
)

// The columns by their index in full rows.
const (
	colLine = iota
	colInput
	colURL
	colOrigin
	colAgent
	colAllowed
	colReason
	colRuleLine
	colRule
	colCanonical
	colViolation
	colBinding
	colVerified
	colVerifiedBy
	colContentUsage
	colContentUsageLine
	colContentSignal
	colContentSignalLine
	colLicense
	colTrainAI
	colSearch
	colAIInput
	colPolicy
	colPolicyLine
	colInSitemap
	numColumns
)

// A fakeCatalog has made-up sites of rulesPerSite rules each.
type fakeCatalog struct {
	origins []robots.Origin
	rules   []robots.Rule // site*rulesPerSite + rule
}

const rulesPerSite = 6

// newFakeCatalog makes up sites. Three at a time have the same rules, so that texts repeat, and
// some rules have a byte that is not UTF-8.
func newFakeCatalog(sites int) *fakeCatalog {
	c := &fakeCatalog{}
	for site := range sites {
		c.origins = append(c.origins, robots.Origin(fmt.Sprintf("https://www.site%d.example", site)))
		for rule := range rulesPerSite {
			value := fmt.Sprintf("/%d/private/%d", site/3, rule)
			if site%50 == 7 && rule == 1 {
				value += "\xff\xfe"
			}
			c.rules = append(c.rules, robots.Rule{Allow: rule%4 == 0, Line: int32(10*rule + 1), Value: value})
		}
	}
	return c
}

func (c *fakeCatalog) Origin(site engine.SiteID) robots.Origin { return c.origins[site] }

// FirstAgent lets pairs of agents share the rules of every other site.
func (c *fakeCatalog) Binding(agent int) engine.Binding { return engine.Binding(agent % 3) }

func (c *fakeCatalog) FirstAgent(site engine.RulingID, agent int) int {
	if site%2 == 0 {
		return agent - agent%2
	}
	return agent
}

func (c *fakeCatalog) AgentName(engine.RulingID, int) string { return "" }

func (c *fakeCatalog) ProofName(p ranges.Proof) string { return fmt.Sprintf("proof %d", p) }

func (c *fakeCatalog) HowUsed(site engine.RulingID, agent int, _ engine.Preference) string {
	return fmt.Sprintf("use%d", (int(site)+agent)%5)
}

func (c *fakeCatalog) Note(site engine.RulingID, _ int, _ robots.Directive) (note robots.Note, ok bool) {
	return robots.Note{Line: 1, Value: fmt.Sprintf("https://l.example/%d", site)}, int(site) < len(c.origins) && site%3 == 0
}

// fakePreference makes up the preferences of a row: those of neighbours are often alike.
func fakePreference(rng *rand.Rand, line, agent int) (p engine.Preference) {
	if line/4%3 == 0 {
		return p
	}
	n := line/4 + agent
	if n%5 > 0 {
		p.Said[robots.ByUsage] = robots.Answer{Line: int32(1 + n%7), Uses: robots.Uses{robots.Preference(n % 3), robots.Preference(n / 3 % 3), 0}}
	}
	if n%4 > 0 {
		p.Said[robots.BySignal] = robots.Answer{Line: int32(1 + n%9), Uses: robots.Uses{robots.Preference(n % 3), robots.Preference(n / 5 % 3), robots.Preference(n / 2 % 3)}}
	}
	if n%3 > 0 {
		p.Said[robots.ByPolicy] = robots.Answer{Line: int32(1 + n%11), Uses: robots.Uses{robots.Preference(1 + n%2), 0, 0}}
	}
	if n%4 == 2 && rng.IntN(2) == 0 {
		p.How = 1
	}
	return p
}

// preferenceValues are what columns have of it.
func (t *table) preferenceValues(p engine.Preference, site engine.RulingID, agent int) []any {
	row := make([]any, 10)
	answer := robots.Answers{Said: p.Said}
	if p.How > 0 {
		answer.How = t.catalog.HowUsed(site, agent, p)
	}
	policy := p.Said[robots.ByPolicy]
	if policy.Line > 0 {
		row[8], row[9] = policy.Uses[robots.TrainAI] == robots.Permitted, policy.Line
	}
	for s := range robots.ByPolicy {
		if line := p.Said[s].Line; line > 0 {
			row[2*s], row[2*s+1] = answer.Text(s), line
		}
	}
	if note, ok := t.catalog.Note(site, agent, robots.LicenseLines); ok {
		row[4] = note.Value
	}
	for u := range robots.NumUses {
		usage, signal := p.Said[robots.ByUsage].Uses[u], p.Said[robots.BySignal].Uses[u]
		if usage == robots.Refused || signal == robots.Refused || policy.Uses[u] == robots.Refused {
			row[5+u] = false
		} else if usage == robots.Permitted || signal == robots.Permitted {
			row[5+u] = true
		}
	}
	return row
}

// Rule gives agents the same rules, on other lines unless they share them.
func (c *fakeCatalog) Rule(site engine.RulingID, agent int, rule int32) robots.Rule {
	r := c.rules[int(site)*rulesPerSite+int(rule)]
	r.Line += int32(c.FirstAgent(site, agent))
	return r
}

// A table is evaluated batches, and what the rows written from them must be: a value per column,
// nil for null.
type table struct {
	catalog *fakeCatalog
	inputs  []string
	agents  []string
	batches []*engine.Batch
	rows    [][]any // nil if not asked for
}

// A tableSpec says how to make up a table.
type tableSpec struct {
	urls, agents, sites int
	batch               int  // URLs of a batch
	dirty               bool // some URLs are not UTF-8, or too long
	strays              bool // nearly every URL has an origin of its own
	keepRows            bool
}

func (s tableSpec) make() *table {
	t := &table{catalog: newFakeCatalog(s.sites), inputs: []string{"a.zst", "b\xf0.zst", "c.zst"}}
	for a := range s.agents {
		t.agents = append(t.agents, fmt.Sprintf("Bot%d", a))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	site := 0
	for done := 0; done < s.urls; {
		b := &engine.Batch{Input: min(2, 3*done/s.urls)}
		for range min(s.batch, s.urls-done) {
			done++
			if rng.IntN(30) == 0 {
				site = rng.IntN(s.sites)
			}
			s.addURL(rng, b, done, site)
		}
		t.batches = append(t.batches, b)
		if s.keepRows {
			t.addRows(b)
		}
	}
	return t
}

func (s tableSpec) addURL(rng *rand.Rand, b *engine.Batch, line, site int) {
	id := engine.SiteID(site)
	url := fmt.Appendf(nil, "https://www.site%d.example/articles/%x/%d/some-title-of-it.html?id=%d", site, rng.Uint32(), line%97, line)
	switch pick := rng.IntN(100); {
	case s.strays && pick > 4, pick == 0:
		id = engine.SiteID(1<<31 | len(b.Strays))
		b.Strays = append(b.Strays, fmt.Appendf(nil, "http://stray%d.example:8080", line))
	case pick == 1:
		id = engine.NoSite
	case s.dirty && pick == 2:
		url = append(url, "é\xe9\xff"...)
	case s.dirty && pick == 3:
		url = nil
		id = engine.NoSite
	}
	b.Sites = append(b.Sites, id)
	b.Rulings = append(b.Rulings, engine.RulingID(id))
	b.Lines = append(b.Lines, int64(line))
	span := engine.NoURL
	if url != nil {
		span = engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(url))}
		b.Data = append(b.Data, url...)
	}
	b.URLs = append(b.URLs, span)
	b.Canonicals = append(b.Canonicals, canonical(b, span, id, line))
	b.Listed = append(b.Listed, min(engine.IsListed, engine.Listed(line%7)))
	for a := range s.agents {
		b.Verdicts = append(b.Verdicts, verdict(rng, id))
		b.Preferences = append(b.Preferences, fakePreference(rng, line, a))
		b.Violations = append(b.Violations, engine.Violation(line%3))
		answer, proof := ranges.Answer(line%ranges.NumAnswers), ranges.Proof(0)
		if answer == ranges.Yes {
			proof = ranges.Proof(1 + line%7)
		}
		b.Verified, b.Proofs = append(b.Verified, answer), append(b.Proofs, proof)
	}
}

// canonical makes up the canonical URL of a row: that of every third is shorter.
func canonical(b *engine.Batch, url engine.Span, id engine.SiteID, line int) engine.Span {
	switch {
	case id == engine.NoSite:
		return engine.NoURL
	case line%3 > 0:
		return url
	}
	at := len(b.Data)
	b.Data = append(b.Data, b.Data[url.Off:url.Off+url.Len-uint32(line%7)]...)
	return engine.Span{Off: uint32(at), Len: uint32(len(b.Data) - at)}
}

func verdict(rng *rand.Rand, id engine.SiteID) engine.Verdict {
	_, stray := id.Stray()
	switch {
	case id == engine.NoSite:
		return engine.Verdict{Rule: engine.NoRule, Reason: engine.ReasonBadURL, Access: engine.Unknown}
	case stray:
		return engine.Verdict{Rule: engine.NoRule, Reason: engine.ReasonNoRobots, Access: engine.Allowed}
	case rng.IntN(5) == 0:
		rule := rng.Int32N(rulesPerSite)
		access := engine.Denied
		if rule%4 == 0 {
			access = engine.Allowed
		}
		return engine.Verdict{Rule: rule, Reason: engine.ReasonRule, Access: access}
	default:
		return engine.Verdict{Rule: engine.NoRule, Reason: engine.ReasonDefault, Access: engine.Allowed}
	}
}

// addRows appends the rows that the batch must give.
func (t *table) addRows(b *engine.Batch) {
	for i := range b.Len() {
		for a, agent := range t.agents {
			v := b.Verdicts[i*len(t.agents)+a]
			row := []any{b.Lines[i], escape(t.inputs[b.Input]), nil, nil, agent, nil, v.Reason.String(), nil, nil, nil, nil, t.catalog.Binding(a).String(), nil, nil}
			row = append(row, t.preferenceValues(b.Preferences[i*len(t.agents)+a], b.Rulings[i], a)...)
			if url := b.URL(i); url != nil {
				row[colURL] = escape(string(url))
			}
			if c := b.Canonicals[i]; c != engine.NoURL {
				row[colCanonical] = escape(string(b.Data[c.Off : c.Off+c.Len]))
			}
			if k, stray := b.Sites[i].Stray(); stray {
				row[colOrigin] = string(b.Strays[k])
			} else if b.Sites[i] != engine.NoSite {
				row[colOrigin] = string(t.catalog.Origin(b.Sites[i]))
			}
			if violation := b.Violations[i*len(t.agents)+a]; violation != engine.ViolationUnknown {
				row[colViolation] = violation == engine.Violated
			}
			row = append(row, nil)
			if l := b.Listed[i]; l != engine.ListedUnknown {
				row[colInSitemap] = l == engine.IsListed
			}
			if answer := b.Verified[i*len(t.agents)+a]; answer != ranges.Null {
				row[colVerified] = answer.String()
			}
			if proof := b.Proofs[i*len(t.agents)+a]; proof != 0 {
				row[colVerifiedBy] = t.catalog.ProofName(proof)
			}
			if v.Access != engine.Unknown {
				row[colAllowed] = v.Access == engine.Allowed
			}
			if v.Rule != engine.NoRule {
				r := t.catalog.Rule(b.Rulings[i], a, v.Rule)
				row[colRuleLine], row[colRule] = r.Line, escape(r.String())
			}
			t.rows = append(t.rows, row)
		}
	}
}

// escape is the obvious form of appendValid.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == '\uFFFD' && !strings.HasPrefix(s[i:], "\uFFFD") {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// writeTo writes the table.
func (t *table) writeTo(w io.Writer, opt Options) (*Writer, error) {
	opt.Inputs = t.inputs
	out, err := newWriter(w, t.catalog, t.agents, opt, container.Metadata{})
	if err != nil {
		return nil, err
	}
	for _, b := range t.batches {
		if err := out.Write(b); err != nil {
			return out, err
		}
	}
	return out, out.Close()
}

// bytes returns the table as a file.
func (t *table) bytes(tb testing.TB, opt Options) []byte {
	tb.Helper()
	var buf bytes.Buffer
	if _, err := t.writeTo(&buf, opt); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}
