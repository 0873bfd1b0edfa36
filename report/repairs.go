package report

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/report/internal/findings"
	"github.com/robobatch/robobatch/robots"
)

// fullURL is the code of a rule that is a whole URL, and matches nothing.
const fullURL = "full_url_rule"

// ruleLine is a line with a rule that is a whole URL.
var ruleLine = regexp.MustCompile(`^([ \t]*(?i:disallow|allow)[ \t]*:[ \t]*)([A-Za-z]+://[^ \t#]+)`)

// A repaired is a text with paths in place of the URLs that its rules are, as far as these are of its site.
type repaired struct {
	origin string
	lines  map[int32]*findings.Repair // by line, rules that disallow
	text   *robots.File
	rules  map[uint16][]robots.Rule // by crawler
	last   time.Time                // of the requests that it decided
}

// repair returns a text with paths in place of URLs; nil if there are none that disallow a path of its site but its root.
func repair(file *File, dialect robots.Dialect) *repaired {
	if file.Report == nil {
		return nil
	}
	r := &repaired{origin: file.Origin, lines: map[int32]*findings.Repair{}, rules: map[uint16][]robots.Rule{}}
	lines := splitText(file.Text)
	for _, fault := range file.Report.Diagnostics {
		n := int(fault.Line) - 1
		if fault.Code != fullURL || n < 0 || n >= len(lines) {
			continue
		}
		m := ruleLine.FindSubmatch(lines[n])
		if m == nil {
			continue
		}
		u, err := robots.SplitURL(m[2])
		if err != nil {
			continue
		}
		origin, err := robots.AppendOrigin(nil, u)
		if path := u.Path; err == nil && string(origin) == file.Origin && len(path) > 1 && path[0] == '/' {
			lines[n] = slices.Concat(m[1], path)
			if key := bytes.TrimLeft(m[1], " \t"); key[0] == 'd' || key[0] == 'D' {
				r.lines[fault.Line] = &findings.Repair{Origin: file.Origin, Line: fault.Line, Rule: "Disallow: " + string(m[2]), Repaired: "Disallow: " + string(path)}
			}
		}
	}
	if len(r.lines) == 0 {
		return nil
	}
	r.text = robots.Inspect(bytes.Join(lines, []byte("\n")), dialect).File
	return r
}

// splitText returns the lines of a text, which end as package robots has them end.
func splitText(text []byte) [][]byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.Split(bytes.ReplaceAll(text, []byte("\r"), []byte("\n")), []byte("\n"))
}

// addRepairs counts the requests of crawlers that rules would have disallowed, were they no whole URLs. It visits all URLs again, if there
// are such rules.
func (c *Counter) addRepairs(files []File) error {
	dialect := c.store.Options().Dialect
	of := map[string]*repaired{}
	for i := range files {
		file := &files[i]
		if old := of[file.Origin]; c.fromLog && (old == nil || file.Last.After(old.last)) {
			if r := repair(file, dialect); r != nil {
				r.last = file.Last
				of[file.Origin] = r
			} else {
				delete(of, file.Origin)
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	var buf []byte
	err := c.requests.EachURL(func(u *aggregate.URL) {
		r := of[string(u.Text[:u.Prefix])]
		if r == nil || isTxt(u) {
			return
		}
		var path []byte
		path, buf = dialect.Path(u.Text[u.Prefix:], buf)
		for i := range u.Requests {
			if k := &c.kinds.all[u.Requests[i].Kind]; c.isFree(k) {
				r.addRequests(c.agentName(int(k.agent)), k.agent, path, u.Requests[i].Rows, dialect)
			}
		}
	})
	for _, r := range of {
		for _, one := range r.lines {
			if one.Requests > 0 {
				c.repairs = append(c.repairs, *one)
			}
		}
	}
	slices.SortFunc(c.repairs, func(a, b findings.Repair) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Line, b.Line))
	})
	return err
}

// addRequests counts the requests of a crawler for a path, if a repaired rule would have disallowed them.
func (r *repaired) addRequests(name string, agent uint16, path []byte, requests int64, dialect robots.Dialect) {
	rules, known := r.rules[agent]
	if !known {
		rules, _ = r.text.Select(robots.NewAgent(name, dialect))
		r.rules[agent] = rules
	}
	if i := robots.Decide(rules, path, dialect); i >= 0 && !rules[i].Allow {
		if one := r.lines[rules[i].Line]; one != nil {
			one.AddRequests(name, requests)
		}
	}
}
