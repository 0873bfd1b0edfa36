package decide

import (
	"strconv"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/why"
	"github.com/robobatch/robobatch/robots"
)

// The package writes JSON itself, because encoding/json would be a fifth of the module's size.

// An object is a JSON object or array that is being written.
type object struct {
	b     []byte
	fresh bool // nothing stands in front of the next element
}

func (o *object) open(bracket byte)  { o.b, o.fresh = append(o.b, bracket), true }
func (o *object) close(bracket byte) { o.b, o.fresh = append(o.b, bracket), false }

// next begins an element of an array.
func (o *object) next() {
	if !o.fresh {
		o.b = append(o.b, ',')
	}
	o.fresh = false
}

// key begins a member of an object.
func (o *object) key(name string) {
	o.next()
	o.text(name)
	o.b = append(o.b, ':')
}

func (o *object) number(n int64) { o.b = strconv.AppendInt(o.b, n, 10) }
func (o *object) truth(v bool)   { o.b = strconv.AppendBool(o.b, v) }

// text writes a string with its quotes. Bytes that are not UTF-8 become the replacement character.
func (o *object) text(s string) {
	const hex = "0123456789abcdef"
	o.b = append(o.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			o.b = append(o.b, '\\', byte(r))
		case r < ' ':
			o.b = append(o.b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			o.b = utf8.AppendRune(o.b, r)
		}
	}
	o.b = append(o.b, '"')
}

// writeRule writes a rule as [line, "Disallow: /x"], or null.
func (o *object) writeRule(r *robots.Rule) {
	if r == nil || r.Line == 0 {
		o.b = append(o.b, "null"...)
		o.fresh = false
		return
	}
	o.open('[')
	o.next()
	o.number(int64(r.Line))
	o.next()
	o.text(r.String())
	o.close(']')
}

// ErrorJSON returns an error as JSON: {"error": "..."}.
func ErrorJSON(err error) string {
	var o object
	o.open('{')
	o.key("error")
	o.text(err.Error())
	o.close('}')
	return string(o.b)
}

// AppendJSON appends a change to the text t as JSON, with at most the given number of closed URLs, and of opened URLs.
func (l *Log) AppendJSON(dst []byte, t *Text, c *Change, most int) []byte {
	o := object{b: dst}
	o.open('{')
	o.key("truncated")
	o.truth(t.File.Truncated)
	o.key("open")
	o.truth(t.Open)
	o.key("rules")
	n := 0
	for i := range t.File.Groups {
		n += len(t.File.Groups[i].Rules)
	}
	o.number(int64(n))
	o.key("agents")
	o.open('[')
	for _, a := range c.Agents {
		o.next()
		o.numbers(a.Requests, a.Before, a.After, a.Closed, a.Opened, a.ClosedBytes, a.OpenedBytes)
	}
	o.close(']')
	o.key("lines")
	o.open('[')
	for _, line := range c.Lines {
		o.next()
		o.numbers(int64(line.Line), line.Requests, int64(bit(line.Allow)))
	}
	o.close(']')
	o.key("closed")
	l.writeMoved(&o, c.Closed, most)
	o.key("opened")
	l.writeMoved(&o, c.Opened, most)
	o.key("wishes")
	o.open('[')
	for _, w := range c.Wishes {
		o.next()
		o.open('[')
		for _, n := range []int64{int64(w.Use), int64(w.From), int64(w.To), w.Requests, int64(w.URLs)} {
			o.next()
			o.number(n)
		}
		o.next()
		o.text(string(l.Path(int(w.Top))))
		o.close(']')
	}
	o.close(']')
	o.close('}')
	return o.b
}

// numbers writes an array of numbers.
func (o *object) numbers(all ...int64) {
	o.open('[')
	for _, n := range all {
		o.next()
		o.number(n)
	}
	o.close(']')
}

// bit returns 1 for true.
func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// writeMoved writes URLs that are decided differently: their totals, and at most the given number of them.
func (l *Log) writeMoved(o *object, moved []Moved, most int) {
	requests, bytes := int64(0), int64(0)
	for _, m := range moved {
		requests += m.Requests
		bytes += m.Bytes
	}
	o.open('{')
	o.key("urls")
	o.number(int64(len(moved)))
	o.key("requests")
	o.number(requests)
	o.key("bytes")
	o.number(bytes)
	o.key("rows")
	o.open('[')
	for _, m := range moved[:min(most, len(moved))] {
		o.next()
		o.open('{')
		o.key("path")
		o.text(string(l.Path(int(m.URL))))
		o.key("requests")
		o.number(m.Requests)
		o.key("agents")
		o.open('[')
		for _, a := range m.Agents {
			o.next()
			o.number(int64(a))
		}
		o.close(']')
		o.key("from")
		o.writeRule(m.From)
		o.key("to")
		o.writeRule(m.To)
		o.close('}')
	}
	o.close(']')
	o.close('}')
}

// A Question is the question that AppendExplanation answers.
type Question struct {
	Body    []byte // the robots.txt
	URL     string // absolute, or a path that starts with "/"
	Agent   string
	Origin  robots.Origin // whose robots.txt it is
	Dialect robots.Dialect
}

// AppendExplanation appends the answer to a question as JSON, with the same keys as `robobatch explain -json`. An
// invalid URL, or one of another origin, gives an error.
func AppendExplanation(dst []byte, q Question) []byte {
	o := object{b: dst}
	o.open('{')
	raw, fault := q.path()
	if fault != "" {
		o.key("error")
		o.text(fault)
		o.close('}')
		return o.b
	}
	file := robots.Parse(q.Body, q.Dialect)
	who := robots.NewAgent(q.Agent, q.Dialect)
	path, _ := q.Dialect.Path(raw, nil)
	o.key("agent")
	o.text(string(who.Token))
	o.key("path")
	o.text(q.Dialect.ReadablePath(path))
	q.writeOpinion(&o, q.Dialect, raw)
	if q.isOpen(q.Dialect) {
		o.close('}')
		return o.b
	}
	o.writeGroup(why.GroupOf(file, who))
	rules, _ := file.Select(who)
	o.writeTrials(why.RulesOf(rules, path, q.Dialect))
	verdict, _ := why.Decide(file, who, path, q.Dialect)
	o.preferences(why.PreferencesOf(robots.PreferencesOf(q.Body, q.Dialect), who, path, verdict.Allow))
	o.key("dialects")
	o.open('[')
	for _, name := range robots.Dialects() {
		if d, err := robots.ParseDialect(name); err == nil && name != q.Dialect.String() {
			o.next()
			o.open('{')
			o.key("dialect")
			o.text(name)
			q.writeOpinion(&o, d|q.Dialect&(robots.WideTokens|robots.URLAsIs), raw)
			o.close('}')
		}
	}
	o.close(']')
	o.close('}')
	return o.b
}

// preferences writes the preferences by draft, and the first line that states each; 0 means that none does.
func (o *object) preferences(p *why.Preferences) {
	part := func(key string, line int32, text string) {
		o.key(key)
		o.open('[')
		o.next()
		o.number(int64(line))
		o.next()
		o.text(text)
		o.close(']')
	}
	p.EachStated(func(s *robots.SourceSpec, line int32, text string) { part(s.Column, line, text) })
	if p != nil && p.License != nil {
		part("license", 0, *p.License)
	}
}

// isOpen reports whether a dialect allows everything because the text is too large.
func (q *Question) isOpen(d robots.Dialect) bool {
	return !d.HasRules(&robots.Response{Status: 200, Body: q.Body})
}

// writeOpinion writes whether a dialect allows a path, the reason and the rule. raw is the path as written.
func (q *Question) writeOpinion(o *object, d robots.Dialect, raw []byte) {
	path, _ := d.Path(raw, nil)
	rule, reason := robots.Rule{Allow: true}, "too_large"
	if d.AlwaysAllowed(path) || !q.isOpen(d) {
		var because why.Because
		rule, because = why.Decide(robots.Parse(q.Body, d), robots.NewAgent(q.Agent, d), path, d)
		reason = because.String()
	}
	o.key("allowed")
	o.truth(rule.Allow)
	o.key("reason")
	o.text(reason)
	o.key("rule")
	o.writeRule(&rule)
}

// path returns the part of the question's URL after the origin. fault says why the URL is invalid; "" if it is
// valid.
func (q *Question) path() (raw []byte, fault string) {
	url := []byte(q.URL)
	if len(url) > 0 && url[0] == '/' {
		return url, ""
	}
	u, err := robots.SplitURL(url)
	if err != nil {
		return nil, err.Error()
	}
	origin, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return nil, err.Error()
	}
	if robots.Origin(origin) != q.Origin {
		return nil, "a URL of " + string(origin) + ": this robots.txt is of " + string(q.Origin)
	}
	return url[len(u.Prefix):], ""
}

// writeGroup writes the names that the crawler obeys, whether the file has them, and the first and last lines of the
// groups that apply.
func (o *object) writeGroup(g *why.Group) {
	o.key("names")
	o.open('[')
	for _, name := range g.Names {
		o.next()
		o.open('{')
		o.key("name")
		o.text(name.Name)
		o.key("found")
		o.truth(name.Found)
		o.close('}')
	}
	o.close(']')
	o.key("groups")
	o.open('[')
	for _, part := range g.Parts {
		o.next()
		o.numbers(int64(part.First), int64(part.Last))
	}
	o.close(']')
}

// maxTrials is the maximum number of rules in an answer.
const maxTrials = 20

// writeTrials writes the number of rules, and at most maxTrials of them with their results.
func (o *object) writeTrials(rules []why.Rule) {
	o.key("tried")
	o.number(int64(len(rules)))
	o.key("rules")
	o.open('[')
	for _, r := range rules[:min(maxTrials, len(rules))] {
		o.next()
		o.open('{')
		o.key("line")
		o.number(int64(r.Line))
		o.key("rule")
		o.text(r.Text)
		o.key("matches")
		o.truth(r.Matches)
		o.key("length")
		o.number(int64(r.Length))
		o.key("stops_at")
		o.number(int64(r.StopsAt))
		o.key("decides_by")
		o.text(r.Decides)
		o.close('}')
	}
	o.close(']')
}
