package e2e

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

// A page is a report, parsed.
type page struct {
	t    *testing.T
	root *html.Node
}

// openPage parses a report, and checks its maximum size in bytes.
func openPage(t *testing.T, name string, most int64) page {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > most {
		t.Errorf("%s: %v, %d bytes, at most %d are allowed", name, err, info.Size(), most)
	}
	root, err := html.ParseWithOptions(f, html.ParseOptionEnableScripting(false)) // as a browser without JavaScript reads it
	if err != nil {
		t.Fatal(err)
	}
	return page{t, root}
}

// attribute returns an attribute of an element.
func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text returns the text of a node, without elements of the given names. A truncated text is returned in full: the
// page contains its rest, hidden.
func text(n *html.Node, but string) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var sb strings.Builder
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || c.Data != but && attribute(c, "class") != "cut" {
			sb.WriteString(text(c, but))
		}
	}
	return sb.String()
}

// A tableRow is a row of a table.
type tableRow struct {
	class string
	cells []string // without notes
	rest  bool     // a row of the foot
}

// has reports whether there is a table.
func (p page) has(name string) bool { return p.find(name) != nil }

// find returns the element of a table, nil if there is none.
func (p page) find(name string) *html.Node {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "table" && attribute(n, "data-name") == name {
			return n
		}
	}
	return nil
}

// rows returns the rows of a table after its header.
func (p page) rows(name string) (rows []tableRow) {
	p.t.Helper()
	table := p.find(name)
	if table == nil {
		p.t.Errorf("no table of %s", name)
		return nil
	}
	for body := range table.ChildNodes() {
		if body.Data != "tbody" && body.Data != "tfoot" {
			continue
		}
		for tr := range body.ChildNodes() {
			row := tableRow{class: attribute(tr, "class"), rest: body.Data == "tfoot"}
			for cell := range tr.ChildNodes() {
				if cell.Type == html.ElementNode {
					row.cells = append(row.cells, cmp.Or(attribute(cell, "data-n"), strings.TrimSpace(text(cell, "small"))))
				}
			}
			if row.cells != nil {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// heads returns the headings of a table.
func (p page) heads(name string) (heads []string) {
	for n := range p.find(name).Descendants() {
		if n.Data == "th" && attribute(n, "scope") == "col" {
			heads = append(heads, text(n, "small"))
		}
	}
	return heads
}

// table returns the cells of the body of a table.
func (p page) table(name string) (rows [][]string) {
	p.t.Helper()
	for _, row := range p.rows(name) {
		if !row.rest {
			rows = append(rows, row.cells)
		}
	}
	return rows
}

// foot returns the cells of the foot of a table.
func (p page) foot(name string) (rows [][]string) {
	p.t.Helper()
	for _, row := range p.rows(name) {
		if row.rest {
			rows = append(rows, row.cells)
		}
	}
	return rows
}

// tile returns the number of a tile of the overview.
func (p page) tile(name string) int64 {
	p.t.Helper()
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "dt" && text(n, "") == name {
			return p.number(text(n.NextSibling, "small"))
		}
	}
	p.t.Fatalf("no tile %s", name)
	return 0
}

// urls returns the number of distinct URLs in the tile of the requests.
func (p page) urls() int64 {
	p.t.Helper()
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "dt" || text(n, "") != "Requests" {
			continue
		}
		if found := ofURLs.FindStringSubmatch(text(n.NextSibling, "")); found != nil {
			return p.number(found[1])
		}
	}
	p.t.Fatal("no tile says how many URLs there are")
	return 0
}

// ofURLs matches the text of that tile.
var ofURLs = regexp.MustCompile(`of ([0-9,]+) URLs?`)

// number returns an exact number.
func (p page) number(s string) int64 {
	p.t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil {
		p.t.Errorf("%q is not an exact number", s)
	}
	return n
}

// is compares numbers.
func (p page) is(what string, got, want int64) {
	p.t.Helper()
	if got != want {
		p.t.Errorf("%s: %d, DuckDB says %d", what, got, want)
	}
}

// numbers are counts that DuckDB makes of the rows of a run.
func (d duck) numbers(what, where string) (n int64) {
	d.t.Helper()
	d.row("select "+what+" from verdicts where "+where, &n)
	return n
}

// openRows opens the rows of a run as the table verdicts and, unless the name is "", those of a run with the
// previous rules as the table changes, in which each row has both verdicts. As in reports, /robots.txt itself is never
// disallowed, and the previous rules define violations.
func openRows(t *testing.T, rows, old string, fromLog bool) duck {
	t.Helper()
	d := openDuck(t)
	counted := func(name string) string {
		const txt = `allowed is not distinct from false and regexp_matches(url, '^[a-z]+://[^/]+/robots\.txt($|[?])')`
		return "(select * replace (case when " + txt + " then true else allowed end as allowed, case when " + txt +
			" then null else rule_line end as rule_line, case when " + txt + " then null else rule end as rule) from " + quote(name) + ")"
	}
	const sameRow = " o on n.line = o.line and n.agent = o.agent and n.input = o.input"
	const spelled = ", n.origin || regexp_replace(n.url, '^[^/]*//[^/?#]*', '') as spelled" // as pages do: https://Twitter.com/ is of https://twitter.com
	create := "create table verdicts as select n.*" + spelled + " from " + counted(rows) + " n"
	if old != "" && fromLog {
		create = "create table verdicts as select n.* replace (o.violation as violation)" + spelled + " from " + counted(rows) + " n join " + quote(old) + sameRow
	}
	if old != "" {
		create += `; create table changes as select n.*, o.rule_line as line_old, case
			when n.allowed is not distinct from false and o.allowed is distinct from false then 'closed'
			when o.allowed is not distinct from false and n.allowed is distinct from false then 'opened'
			when n.allowed is distinct from o.allowed or n.rule is distinct from o.rule then 'other' else 'same' end as change
			from ` + counted(rows) + " n join " + counted(old) + sameRow
	}
	if _, err := d.db.Exec(create); err != nil {
		t.Fatal(err)
	}
	return d
}

// who returns the rows of a crawler, by its name on the page.
func who(name string) string {
	if name == "other clients" {
		name = "*"
	}
	return "agent = " + quote(name)
}

// checkPage compares the parts that all reports have with the rows of the same run.
func checkPage(t *testing.T, p page, d duck, fromLog bool) {
	t.Helper()
	agents := int64(1) // rows of a request
	if !fromLog {
		agents = d.numbers("count(distinct agent)", "true")
	}
	p.is("requests", p.tile("Requests")*agents, d.numbers("count(*)", "true"))
	p.is("URLs", p.urls(), d.numbers("count(distinct url)", "origin is not null"))
	for _, row := range p.table("crawlers") {
		p.is(row[0], p.number(row[1]), d.numbers("count(*)", who(row[0])))
		if !fromLog {
			p.is(row[0]+" disallowed", p.number(row[2]), d.numbers("count(*)", "not allowed and "+who(row[0])))
			continue
		}
		p.is(row[0]+" URLs", p.number(row[2]), d.numbers("count(distinct url)", who(row[0])))
		p.is(row[0]+" disallowed", p.number(row[3]), d.numbers("count(*)", "not allowed and "+who(row[0])))
		p.is(row[0]+" violations", p.number(row[5]), d.numbers("count(*)", "violation and "+who(row[0])))
	}
	checkTogether(t, p, d, fromLog)
	checkSites(t, p, d, agents, fromLog)
	checkFiles(t, p, d)
	checkTree(t, p, d, agents)
}

// sets are the names of sets of crawlers, by their names on the page.
var sets = map[string]string{"search engines": "search", "AI crawlers": "ai"}

// checkTogether compares the rows of sets of crawlers, and the row of all crawlers.
func checkTogether(t *testing.T, p page, d duck, fromLog bool) {
	t.Helper()
	for _, row := range p.foot("crawlers") {
		var names []string
		for _, c := range crawlers.Set(sets[row[0]]) {
			names = append(names, quote(strings.ToLower(c.Token)))
		}
		of := "lower(agent) in (" + strings.Join(names, ", ") + ")"
		if row[0] == "all" {
			of = "true"
		}
		p.is(row[0], p.number(row[1]), d.numbers("count(*)", of))
		if !fromLog {
			p.is(row[0]+" disallowed", p.number(row[2]), d.numbers("count(*)", "not allowed and "+of))
			continue
		}
		p.is(row[0]+" disallowed", p.number(row[3]), d.numbers("count(*)", "not allowed and "+of))
		p.is(row[0]+" violations", p.number(row[5]), d.numbers("count(*)", "violation and "+of))
	}
}

// checkSites compares the table of sites and their crawlers.
func checkSites(t *testing.T, p page, d duck, agents int64, fromLog bool) {
	t.Helper()
	if !p.has("sites") {
		if n := d.numbers("count(distinct origin)", "rule_line is not null"); n > 1 {
			t.Errorf("no table of %d sites", n)
		}
		return
	}
	heads := p.heads("sites")
	for _, row := range p.table("sites") {
		where := "origin = " + quote(row[0])
		p.is(row[0], p.number(row[1])*agents, d.numbers("count(*)", where))
		p.is(row[0]+" URLs", p.number(row[2]), d.numbers("count(distinct url)", where))
		p.is(row[0]+" disallowed", p.number(row[3]), d.numbers("count(*)", "not allowed and "+where))
		for i, head := range heads {
			if head == "Errors" {
				p.is(row[0]+" errors", p.number(row[i]), d.numbers("count(*)", "status >= 400 and "+where))
			}
			if fromLog && i > 4 && head != "Other crawlers" {
				p.is(row[0]+" for "+head, p.number(row[i]), d.numbers("count(*)", where+" and "+who(strings.ToLower(head[:1])+head[1:])+" or "+where+" and "+who(head)))
			}
		}
	}
	t.Logf("%d sites", len(p.table("sites")))
}

// checkFiles compares the lines of each robots.txt, also by crawler. It skips files that several origins share, because
// their rows are those of all of them.
func checkFiles(t *testing.T, p page, d duck) {
	t.Helper()
	const files, rules = "robots.txt files", "rules of "
	var origins []string
	if p.has(files) {
		for _, row := range p.table(files) {
			if !strings.Contains(row[0], " ") && p.has(rules+row[0]) {
				origins = append(origins, row[0])
			}
		}
	} else {
		origins = d.strings("select distinct origin from verdicts where origin is not null")
	}
	lines, askers := 0, 0
	for _, origin := range origins {
		for _, row := range p.table(rules + origin) {
			if row[0] != "" && len(row) >= 5 {
				lines++
				line := row[len(row)-2]
				p.is(origin+", line "+line, p.number(row[0]), d.numbers("count(*)", "origin = "+quote(origin)+" and rule_line = "+line))
			}
		}
		if name := "crawlers by line of " + origin; p.has(name) {
			for _, row := range p.table(name) {
				askers++
				p.is(origin+", line "+row[0]+" for "+row[2], p.number(row[3]), d.numbers("count(*)", "origin = "+quote(origin)+" and rule_line = "+row[0]+" and "+who(row[2])))
			}
		}
	}
	t.Logf("%d lines, %d of them by crawler", lines, askers)
	if lines == 0 || askers == 0 && len(p.table("crawlers")) > 1 {
		t.Error("nothing of lines was compared")
	}
}

// sumOfBytes is the sum of the bytes of rows, in SQL.
const sumOfBytes = "coalesce(sum(bytes), 0)::bigint"

// checkTree compares rows of the tree of paths.
func checkTree(t *testing.T, p page, d duck, agents int64) {
	t.Helper()
	way := make([]string, 20)
	compared := 0
	for _, row := range p.rows("paths") {
		depth := 0
		if _, err := fmt.Sscanf(row.class, "i%d", &depth); err != nil {
			continue // what has no row
		}
		if compared++; compared > 250 && depth > 1 {
			continue
		}
		path := way[depth-1] + strings.TrimSuffix(row.cells[0], "…")
		way[depth] = path
		if strings.Contains(path, `\u{`) || strings.Contains(path, "%") || strings.HasSuffix(row.cells[0], "…") && row.cells[0] != "?…" || len(row.cells[0]) >= 100 {
			continue // it is shown in another way than rows have it, or cut off
		}
		where := "starts_with(spelled, " + quote(path) + ")"
		if last := path[len(path)-1]; last != '/' && last != '?' { // names end here, or at a query
			where = fmt.Sprintf("(spelled = %s or starts_with(spelled, %s) or starts_with(spelled, %s)%s)", quote(path), quote(path+"?"), quote(path+"#"), map[bool]string{true: " or starts_with(spelled, " + quote(path+"/") + ")"}[depth == 1])
		}
		least, most, isRange := strings.Cut(row.cells[1], "–")
		n := d.numbers("count(*)", where)
		if !isRange {
			most = least
		}
		if n < p.number(least)*agents || n > p.number(most)*agents {
			t.Errorf("%s: %s, DuckDB says %d", path, row.cells[1], n)
		}
		if len(row.cells) > 5 {
			p.is(path+" bytes", p.number(row.cells[4]), d.numbers(sumOfBytes, where))
			p.is(path+" errors", p.number(row.cells[5]), d.numbers("count(*)", where+" and status >= 400"))
		}
		if denied := d.numbers("count(*)", "not allowed and "+where); (denied == 0) != (row.cells[3] == "0%") && !isRange {
			t.Errorf("%s: %s is disallowed, DuckDB says %d rows", path, row.cells[3], denied)
		}
	}
	if compared < 20 {
		t.Errorf("%d paths", compared)
	}
}

// checkChanges compares the changes with a join of two runs.
func checkChanges(t *testing.T, p page, d duck) {
	t.Helper()
	is := func(what, got, count, where string) {
		t.Helper()
		var n int64
		d.row("select "+count+" from changes where "+where, &n)
		p.is(what, p.number(got), n)
	}
	compared := 0
	for _, row := range p.table("changes") {
		of := who(row[0]) + " and change = "
		is(row[0], row[1], "count(*)", who(row[0]))
		for i, change := range []string{"closed", "opened"} {
			is(row[0]+" "+change, row[2+2*i], "count(*)", of+quote(change))
			is(row[0]+" URLs "+change, row[3+2*i], "count(distinct url)", of+quote(change))
			name := "rules by which requests were " + change + " for " + row[0]
			if !p.has(name) {
				continue
			}
			for _, rule := range p.table(name) {
				where := blamed(rule[0], rule[1])
				if where == "" {
					continue
				}
				compared++
				is(name+": "+rule[0], rule[2], "count(*)", of+quote(change)+" and "+where)
				is(name+": URLs of "+rule[0], rule[3], "count(distinct url)", of+quote(change)+" and "+where)
			}
		}
		is(row[0]+" by another rule", row[6], "count(*)", of+"'other'")
		is(row[0]+" unchanged", row[7], "count(*)", of+"'same'")
	}
	all := p.foot("changes")
	sum := all[len(all)-1]
	for i, where := range map[int]string{1: "true", 2: "change = 'closed'", 4: "change = 'opened'", 6: "change = 'other'", 7: "change = 'same'"} {
		is("all, where "+where, sum[i], "count(*)", where)
	}
	if p.has("changes by rule") {
		for _, row := range p.table("changes by rule") {
			if where := blamed(row[1], row[2]); where != "" {
				is(row[1], row[3], "count(*)", "change = "+quote(row[0])+" and "+where)
				is(row[1]+" crawlers", row[4], "count(distinct agent)", "change = "+quote(row[0])+" and "+where)
			}
		}
	}
	if t.Logf("%d rules that changed something", compared); compared == 0 {
		t.Error("no rule was compared")
	}
}

// blamed returns the rows that a rule is responsible for; "" if the cause is a reason, or a rule of several origins.
func blamed(rule, origin string) string {
	number, _, isLine := strings.Cut(strings.TrimPrefix(rule, "line "), ":")
	switch {
	case !isLine || strings.HasSuffix(origin, " and others"):
		return ""
	case strings.HasSuffix(rule, "(before)"):
		return "rule_line is null and line_old = " + number + " and origin = " + quote(origin)
	}
	return "rule_line = " + number + " and origin = " + quote(origin)
}

// ofAnswers are the fields that a report reads without -keep.
const ofAnswers = "status,time,bytes"

// mostBytes is the maximum size of a page without the panel.
const mostBytes = 600_000

// compared writes a report and the rows of the same run, and compares them; with the previous rules if old
// is not "".
func (j job) compared(t *testing.T, old string, fromLog bool) (page, duck) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.html")
	before, args := "", []string{"report", "-rules", j.rules, "-out", name, "-what-if", "off", "-quiet"}
	if old != "" {
		earlier := j
		earlier.rules = old
		before, _ = earlier.run(t, ".parquet")
		args = append(args, "-old", old)
	}
	for _, in := range j.inputs {
		args = append(args, "-in", in)
	}
	for _, agent := range j.agents {
		args = append(args, "-agent", agent)
	}
	for _, flag := range j.flags {
		if flag != "-keep" && flag != ofAnswers { // a report has them by itself
			args = append(args, flag)
		}
	}
	runOK(t, nil, args...)
	rows, _ := j.run(t, ".parquet")
	p, d := openPage(t, name, mostBytes), openRows(t, rows, before, fromLog)
	checkPage(t, p, d, fromLog)
	if old != "" {
		checkChanges(t, p, d)
	}
	return p, d
}

// TestReport compares the numbers of reports with counts that DuckDB makes of the rows of the same runs: for a list
// of URLs, a log with crawlers, times and status codes, and the real URLs.
func TestReport(t *testing.T) {
	t.Run("quickstart", func(t *testing.T) {
		rules := quickstart(t, "rules")
		edited, _ := editRules(t, rules)
		job{rules: edited, inputs: []string{quickstart(t, "urls.zst")}, agents: []string{"Googlebot,GPTBot,bingbot"}}.compared(t, rules, false)
	})
	t.Run("cookbook", checkCookbook)
	t.Run("sites", func(t *testing.T) {
		dir := t.TempDir()
		var rules, log strings.Builder
		for site := range 130 { // more than the page lists
			fmt.Fprintf(&rules, "{\"url\": \"https://s%d.example/robots.txt\", \"status\": 200, \"body\": \"User-agent: *\\nDisallow: /a\\nDisallow: /%d\\n\"}\n", site, site)
			for i := range 3 + site%7 {
				agent := []string{"Googlebot/2.1", "bingbot/2.0", "GPTBot/1.2", "ClaudeBot/1.0", "AhrefsBot/7.0", "Applebot/0.1", "Firefox/140.0"}[(site+i*i)%7]
				fmt.Fprintf(&log, "{\"url\": \"https://s%d.example/%c/%d\", \"user_agent\": %q, \"status\": %d, \"bytes\": %d, \"time\": \"2026-02-0%dT10:00:00Z\"}\n", site, 'a'+rune(i%3), i, agent, []int{200, 200, 404, 500}[(site+i)%4], 100*i, 1+i)
			}
		}
		for name, text := range map[string]string{"rules.jsonl": rules.String(), "log.jsonl": log.String()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j := job{rules: filepath.Join(dir, "rules.jsonl"), inputs: []string{filepath.Join(dir, "log.jsonl")}, flags: []string{"-agent-from-log", "-keep", ofAnswers}}
		p, d := j.compared(t, "", true)
		rest, listed := p.foot("sites"), d.number("select sum(n) from (select count(*) n from verdicts group by origin order by n desc limit 100)")
		if len(p.table("sites")) != 100 || len(rest) != 1 {
			t.Fatalf("%d sites, and %q", len(p.table("sites")), rest)
		}
		p.is("the others", p.number(rest[0][1]), d.numbers("count(*)", "true")-listed)
	})
	t.Run("collection", func(t *testing.T) {
		t.Chdir("..") // where the helper looks from
		data := filepath.Join(repcase.SharedDir(t), "data")
		t.Chdir("e2e")
		dir := t.TempDir()
		untar(t, filepath.Join(data, "rules.tar.zst"), dir)
		rules := filepath.Join(dir, "rules")
		edited, _ := editRules(t, rules)
		job{rules: edited, inputs: []string{filepath.Join(data, "urls_real_hostgrouped.urls.zst")}}.compared(t, rules, false)
	})
}

// checkCookbook compares all tables of a report on a log of one origin. The result must be the same if -report
// writes it in addition to the rows.
func checkCookbook(t *testing.T) {
	cookbook, err := filepath.Abs("../testdata/cookbook")
	if err != nil {
		t.Fatal(err)
	}
	j := job{
		rules: filepath.Join(cookbook, "robots-new.txt"), inputs: []string{filepath.Join(cookbook, "access.log.zst")},
		flags: []string{"-base", "https://www.semicomplete.com", "-agent-from-log", "-keep", ofAnswers},
	}
	p, d := j.compared(t, filepath.Join(cookbook, "robots.txt"), true)
	p.is("violations", p.tile("Violations"), d.numbers("count(*)", "violation"))
	lines := int64(0)
	for _, row := range p.table("rules of https://www.semicomplete.com") {
		if row[0] == "" {
			continue
		}
		lines += p.number(row[0])
		if row[1] != "" {
			where := "rule_line = " + row[5]
			p.is("URLs, where "+where, p.number(row[1]), d.numbers("count(distinct url)", where))
			p.is("bytes, where "+where, p.number(row[2]), d.numbers(sumOfBytes, where))
			p.is("errors, where "+where, p.number(row[3]), d.numbers("count(*)", where+" and status >= 400"))
		}
	}
	p.is("all lines", lines, d.numbers("count(*)", "rule_line is not null"))
	hours := int64(0)
	for _, row := range p.table("time") {
		where := "strftime(time, '%Y-%m-%d %H:00') = " + quote(row[0])
		p.is(row[0], p.number(row[1]), d.numbers("count(*)", where))
		p.is(row[0]+" disallowed", p.number(row[2]), d.numbers("count(*)", "not allowed and "+where))
		p.is(row[0]+" violations", p.number(row[3]), d.numbers("count(*)", "violation and "+where))
		p.is(row[0]+" errors", p.number(row[4]), d.numbers("count(*)", "status >= 400 and "+where))
		hours += p.number(row[1])
	}
	p.is("all hours", hours, 10_000)
	served := "(status between 200 and 299 or status = 304) and not allowed"
	for _, row := range slices.Concat(p.table("URLs that are disallowed but served"), p.table("URLs that are allowed but failing")) {
		where := "url = " + quote(row[0]) + " and " + who(row[1])
		p.is(row[0]+" of all", p.number(row[3]), d.numbers("count(*)", where))
		n := d.numbers("count(*)", where+" and "+served) + d.numbers("count(*)", where+" and status >= 400 and allowed")
		p.is(row[0], p.number(row[2]), n)
	}
	for _, row := range append(p.table("crawlers"), p.foot("crawlers")...) {
		if sets[row[0]] != "" {
			continue
		}
		of := who(row[0])
		if row[0] == "all" {
			of = "true"
		}
		p.is(row[0]+" bytes", p.number(row[11]), d.numbers(sumOfBytes, of))
		pages := of + ` and not regexp_matches(url, '^[^/]*//[^/]*/robots\.txt([?#]|$)')` // answers to requests of robots.txt stand apart
		for i, class := range []int{2, 3, 4, 5} {
			got, err := strconv.ParseFloat(strings.TrimLeft(strings.TrimSuffix(row[7+i], "%"), "<>"), 64)
			if want := float64(d.numbers(fmt.Sprintf("10000 * count(*) filter (status // 100 = %d) // count(status)", class), pages)) / 100; err != nil || math.Abs(got-want) > 0.1 {
				t.Errorf("%s: %s are %dxx, DuckDB says %.2f%%", row[0], row[7+i], class, want)
			}
		}
	}
	others := who("other clients")
	for kind, where := range map[string]string{"2xx or 304": served, "4xx or 5xx": "status >= 400 and allowed"} {
		m := regexp.MustCompile(`answered with ` + kind + `: ([\d,]+) of crawlers\. ([\d,]+) more by other clients`).FindStringSubmatch(text(p.root, ""))
		if m == nil {
			t.Fatalf("no sentence on answers by %s", kind)
		}
		p.is(kind+" to crawlers", p.number(m[1]), d.numbers("count(*)", where+" and not "+others))
		p.is(kind+" to others", p.number(m[2]), d.numbers("count(*)", where+" and "+others))
	}
	alone, now := j.compared(t, "", true)
	j.checkConduct(t, alone, now)
	both := filepath.Join(t.TempDir(), "x.html")
	j.flags = append(j.flags, "-report", both, "-what-if", "off")
	j.run(t, ".parquet")
	beside := openPage(t, both, mostBytes)
	if got, want := beside.table("crawlers"), alone.table("crawlers"); !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("beside the rows, crawlers are %q, want %q", got, want)
	}
}

// checkConduct compares the section on conduct with the command conduct, and with the rows.
func (j job) checkConduct(t *testing.T, p page, d duck) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.parquet")
	args := []string{"conduct", "-by", "agent", "-rules", j.rules, "-in", j.inputs[0], "-out", name, "-quiet"}
	for _, flag := range j.flags {
		if flag != "-keep" && flag != ofAnswers && flag != "-agent-from-log" {
			args = append(args, flag)
		}
	}
	runOK(t, nil, args...)
	all := append(p.table("conduct"), p.foot("conduct")...)
	if int64(len(all)) != d.number("select 1 + count(*) from "+quote(name)+" where robots_requests + disallowed > 0") {
		t.Errorf("%d crawlers in the panel of conduct", len(all))
	}
	for _, row := range all {
		where := "agent = " + quote(row[0])
		if row[0] == "all crawlers" {
			where = "true"
		}
		for i, count := range map[int]string{1: "robots_requests", 2: "disallowed", 4: "knew", 5: "outdated", 6: "never_asked", 7: "held + shared + unseen", 8: "violations"} {
			p.is(row[0]+": "+count, p.number(row[i]), d.number("select sum("+count+") from "+quote(name)+" where "+where))
		}
		where += " and agent <> '*'"
		p.is(row[0]+": all disallowed", p.number(row[2]), d.numbers("count(*)", "not allowed and "+where))
		p.is(row[0]+": all violations", p.number(row[8]), d.numbers("count(*)", "violation and "+where))
	}
}

// number returns the result of a query.
func (d duck) number(query string) (n int64) {
	d.t.Helper()
	d.row(query, &n)
	return n
}
