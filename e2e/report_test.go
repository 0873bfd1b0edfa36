package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/robobatch/robobatch/internal/repcase"
)

// A page is a report, parsed.
type page struct {
	t    *testing.T
	root *html.Node
}

// openPage parses a report, which may have so many bytes.
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
	root, err := html.Parse(f)
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

// text returns the text of a node, without that of elements of a name. Of a text that is cut off, it is
// the whole, the rest of which is hidden.
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

// table returns the cells of the body of a table.
func (p page) table(name string) (rows [][]string) {
	p.t.Helper()
	found := false
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "table" || attribute(n, "data-name") != name {
			continue
		}
		found = true
		for body := range n.ChildNodes() {
			if body.Data != "tbody" {
				continue
			}
			for tr := range body.ChildNodes() {
				var row []string
				for cell := range tr.ChildNodes() {
					if cell.Type == html.ElementNode {
						row = append(row, strings.TrimSpace(text(cell, "small")))
					}
				}
				if row != nil {
					rows = append(rows, row)
				}
			}
		}
	}
	if !found {
		p.t.Errorf("no table of %s", name)
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

// number returns a number that is exact.
func (p page) number(s string) int64 {
	p.t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil {
		p.t.Errorf("%q is no exact number", s)
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

// numbers are what DuckDB reads of the rows of a run.
func (d duck) numbers(what, rows, where string) (n int64) {
	d.t.Helper()
	d.row("select "+what+" from "+quote(rows)+" where "+where, &n)
	return n
}

// checkPage compares a report with the rows of the same run. The rows of a robots.txt that several
// origins have are those of all of them, so that these are compared for a log of one origin.
func checkPage(t *testing.T, p page, d duck, rows string, fromLog bool) {
	t.Helper()
	p.is("requests", p.tile("Requests"), d.numbers("count(*)", rows, "true"))
	p.is("URLs", p.tile("Distinct URLs"), d.numbers("count(distinct url)", rows, "origin is not null"))
	for _, row := range p.table("crawlers") {
		who := "agent = " + quote(row[0])
		if row[0] == "other clients" {
			who = "agent = '*'"
		}
		p.is(row[0], p.number(row[1]), d.numbers("count(*)", rows, who))
		if !fromLog {
			p.is(row[0]+" disallowed", p.number(row[2]), d.numbers("count(*)", rows, "not allowed and "+who))
			continue
		}
		p.is(row[0]+" URLs", p.number(row[2]), d.numbers("count(distinct url)", rows, who))
		p.is(row[0]+" disallowed", p.number(row[3]), d.numbers("count(*)", rows, "not allowed and "+who))
		p.is(row[0]+" violations", p.number(row[5]), d.numbers("count(*)", rows, "violation and "+who))
	}
	tree := 0
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && strings.HasPrefix(attribute(n, "class"), "row i1") && n.FirstChild.Data == "code" {
			origin := text(n.FirstChild, "")
			if tree++; tree > 20 {
				break
			}
			p.is("paths of "+origin, p.number(text(n.FirstChild.NextSibling, "")), d.numbers("count(*)", rows, "regexp_replace(url, '^(https?://[^/?#]*).*$', '\\1') = "+quote(origin)))
		}
	}
	if tree == 0 {
		t.Error("no paths")
	}
}

// TestReport compares the numbers of reports with what DuckDB reads of the rows of the same runs: a list
// of URLs, a log with crawlers, times and statuses, and the real URLs.
func TestReport(t *testing.T) {
	const most = 600_000
	t.Run("quickstart", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "x.html")
		rows, _ := job{
			rules: quickstart(t, "rules"), inputs: []string{quickstart(t, "urls.zst")}, agents: []string{"Googlebot,GPTBot"},
			flags: []string{"-report", name, "-what-if", "off"},
		}.run(t, ".parquet")
		d := openDuck(t)
		p := openPage(t, name, most)
		p.is("URLs", p.tile("Distinct URLs"), d.numbers("count(distinct url)", rows, "origin is not null"))
		for _, row := range p.table("crawlers") {
			p.is(row[0]+" disallowed", p.number(row[2]), d.numbers("count(*)", rows, "not allowed and agent = "+quote(row[0])))
		}
	})
	t.Run("cookbook", func(t *testing.T) { checkCookbook(t, most) })
	t.Run("collection", func(t *testing.T) {
		t.Chdir("..") // where the helper looks from
		data := filepath.Join(repcase.SharedDir(t), "data")
		t.Chdir("e2e")
		dir := t.TempDir()
		untar(t, filepath.Join(data, "rules.tar.zst"), dir)
		name := filepath.Join(dir, "x.html")
		rows, _ := job{
			rules: filepath.Join(dir, "rules"), inputs: []string{filepath.Join(data, "urls_real_hostgrouped.urls.zst")},
			flags: []string{"-report", name, "-what-if", "off"},
		}.run(t, ".parquet")
		checkPage(t, openPage(t, name, most), openDuck(t), rows, false)
	})
}

// checkCookbook compares a report on a log of one origin, all of its tables.
func checkCookbook(t *testing.T, most int64) {
	t.Helper()
	cookbook, err := filepath.Abs("../testdata/cookbook")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.html")
	rows, _ := job{
		rules: filepath.Join(cookbook, "robots.txt"), inputs: []string{filepath.Join(cookbook, "access.log.zst")},
		flags: []string{"-base", "https://www.semicomplete.com", "-agent-from-log", "-keep", "status,time", "-report", name, "-what-if", "off"},
	}.run(t, ".parquet")
	d := openDuck(t)
	p := openPage(t, name, most)
	checkPage(t, p, d, rows, true)
	p.is("violations", p.tile("Violations"), d.numbers("count(*)", rows, "violation"))
	lines := int64(0)
	for _, row := range p.table("rules of https://www.semicomplete.com") {
		if row[0] == "" {
			continue
		}
		where := "rule_line = " + row[3]
		lines += p.number(row[0])
		p.is("line "+row[3], p.number(row[0]), d.numbers("count(*)", rows, where))
		if row[1] != "" {
			p.is("URLs of line "+row[3], p.number(row[1]), d.numbers("count(distinct url)", rows, where))
		}
	}
	p.is("all lines", lines, d.numbers("count(*)", rows, "rule_line is not null"))
	hours := int64(0)
	for _, row := range p.table("time") {
		where := "strftime(time, '%Y-%m-%d %H:00') = " + quote(row[0])
		p.is(row[0], p.number(row[1]), d.numbers("count(*)", rows, where))
		p.is(row[0]+" disallowed", p.number(row[2]), d.numbers("count(*)", rows, "not allowed and "+where))
		p.is(row[0]+" violations", p.number(row[3]), d.numbers("count(*)", rows, "violation and "+where))
		hours += p.number(row[1])
	}
	p.is("all hours", hours, 10_000)
	served := "(status between 200 and 299 or status = 304) and not allowed"
	for _, row := range slices.Concat(p.table("URLs that are disallowed but served"), p.table("URLs that are allowed but failing")) {
		if strings.HasSuffix(row[0], "…") {
			continue // the beginning of a long one
		}
		where := "url = " + quote(row[0]) + " and agent = " + quote(strings.ReplaceAll(row[1], "other clients", "*"))
		p.is(row[0]+" of all", p.number(row[3]), d.numbers("count(*)", rows, where))
		n := d.numbers("count(*)", rows, where+" and "+served) + d.numbers("count(*)", rows, where+" and status >= 400 and allowed")
		p.is(row[0], p.number(row[2]), n)
	}
	for _, row := range p.table("pace") {
		p.is(row[0], p.number(row[2]), d.numbers("count(*)", rows, "agent = "+quote(row[0])))
	}
}
