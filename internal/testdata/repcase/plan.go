package repcase

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// A Check is the demand of one row on one dialect.
type Check struct {
	Dialect robots.Dialect
	Want    Want
	Line    int32  // the line that must win, 0 for none; -1 if the row does not say
	Why     string // why this is expected, for messages
	exact   bool   // Line must win even if its rule has no value
}

// A Want is the expected verdict.
type Want uint8

// The values of Want.
const (
	Deny  Want = iota
	Allow      // the URL may be fetched
	Any        // undefined: the row only must not fail
)

// String returns the verdict as messages show it.
func (w Want) String() string { return [...]string{"disallow", "allow", "anything"}[w] }

// asIs is the dialect google in the way its library is compared with: URLs as they are.
const asIs = robots.Google | robots.URLAsIs

// Plan returns the demands of a row, or why it is not run. A row runs in google with URLs as they
// are, where google/robotstxt's own answer is known and decides; a normative row runs in its own
// dialect, and so does every other row of google-2010 and yandex; a row where the source
// disagrees with google/robotstxt runs as its class says. An observed row runs in its own dialect, with its line.
func Plan(r *Row) (checks []Check, skipped string, err error) {
	if r.Multi != nil {
		return nil, "a query by several names at once", nil
	}
	if r.Tier == "observed" {
		return observed(r)
	}
	c, known := classes[r.Class]
	switch {
	case r.Class != "" && !known:
		return nil, "", fmt.Errorf("class %q is not in the table", r.Class)
	case r.Class == "" && r.Agrees != nil && !*r.Agrees:
		return nil, "", errors.New("the source disagrees with google/robotstxt, but the row has no class")
	case r.Class == "":
		c = class{google: asGoogle, why: "google/robotstxt's answer"}
	}
	if e, ok := exceptions[r.ID]; ok {
		c = e
	}
	if fallsBack(r) {
		c.google = asSource
	}
	if r.Tier == "normative" && r.Dialect == "rfc9309" && c.rfc9309 == notRun {
		c.rfc9309 = asSource
	}
	own, err := ownCheck(r, c)
	if err != nil {
		return nil, "", err
	}
	checks = append(checks, own...)
	for _, m := range []struct {
		d robots.Dialect
		e expectation
	}{{asIs, c.google}, {robots.Google, c.normalised}, {robots.RFC9309, c.rfc9309}, {asIs | robots.WideTokens, c.wide}} {
		if m.e != notRun {
			checks = append(checks, Check{Dialect: m.d, Want: r.want(m.e), Line: r.line(m.e), Why: c.why})
		}
	}
	if len(checks) == 0 {
		return nil, c.why, nil
	}
	return checks, "", nil
}

// observed returns the checks of a row that is an answer of Yandex's own tester. It ignores "Allow:", which does not change its verdicts,
// but for one file the line.
func observed(r *Row) (checks []Check, skipped string, err error) {
	d, err := robots.ParseDialect(r.Dialect)
	own := Check{Dialect: d | robots.EmptyAllowIgnored, Want: verdict(*r.Allow), Line: r.Line, Why: "the answer of the operator's own tester", exact: true}
	plain := own
	plain.Dialect = d
	if strings.HasPrefix(r.ID, "yandex-observed/ydx-06-additional-") {
		plain.Line = -1
	}
	return []Check{own, plain}, "", err
}

// ownCheck returns the check of a row in the dialect of its source, if that is neither google nor
// rfc9309.
func ownCheck(r *Row, c class) ([]Check, error) {
	d, err := robots.ParseDialect(r.Dialect)
	if r.Dialect != "" && err != nil {
		return nil, err
	}
	e := asSource
	switch {
	case d != robots.Google2010 && d != robots.Yandex:
		return nil, nil
	case r.Tier == "normative":
	case c.own != notRun:
		e = c.own
	case r.Class != "":
		e = asGoogle
	}
	return []Check{{Dialect: d, Want: r.want(e), Line: -1, Why: "the source's own dialect: " + c.why}}, nil
}

// fallsBack reports whether google/robotstxt, which does not know fallbacks, cannot give the answer to the row's
// agent.
func fallsBack(r *Row) bool {
	return strings.HasPrefix(r.Class, "C24") && strings.HasPrefix(strings.ToLower(r.Agent), "googlebot-")
}

// want returns the verdict that is expected of a row.
func (r *Row) want(e expectation) Want {
	switch {
	case e == denied:
		return Deny
	case e == allowed:
		return Allow
	case r.Allow == nil:
		return Any
	case e == asGoogle:
		return verdict(r.oracle() == "allow")
	default:
		return verdict(*r.Allow)
	}
}

// oracle returns google/robotstxt's answer for the product token. For an agent without one its
// answer for the agent as written stands: it is that for "*", while asked for "" the library would
// let two empty tokens match.
func (r *Row) oracle() string {
	if r.AgentToken != nil && *r.AgentToken != "" {
		return r.OracleToken
	}
	return r.Oracle
}

// line returns the line that must win. The row has it only for the agent as written.
func (r *Row) line(e expectation) int32 {
	if e != asGoogle || r.Allow == nil || r.AgentToken != nil && *r.AgentToken != "" {
		return -1
	}
	return r.OracleLine
}

func verdict(allow bool) Want {
	if allow {
		return Allow
	}
	return Deny
}
