package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// editRules copies a directory of rules and changes one file in 50. It returns the copy and the names of
// the files that it changed.
func editRules(t *testing.T, from string) (to string, changed map[string]bool) {
	t.Helper()
	to, changed = t.TempDir(), map[string]bool{}
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(17, 50))
	for i, f := range files {
		text, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if i%50 == 7 {
			text = edit(rng, text)
			changed[f.Name()] = true
		}
		if err := os.WriteFile(filepath.Join(to, f.Name()), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to, changed
}

// edit changes a robots.txt in a way that people do.
func edit(rng *rand.Rand, text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	switch rng.IntN(6) {
	case 0: // closed by accident
		return append(text, "\nUser-agent: *\nDisallow: /*a*e\n"...)
	case 1: // all of it
		return []byte("User-agent: *\nDisallow: /\n")
	case 2: // gone
		return nil
	case 3: // other lines, the same meaning
		return append([]byte("# moved\n\n"), text...)
	case 4: // a crawler gets a group of its own
		return append([]byte("User-agent: GPTBot\nDisallow: /\n\n"), text...)
	}
	return []byte(strings.Join(slices.DeleteFunc(lines, func(line string) bool { // a rule in three is dropped
		return strings.HasPrefix(strings.ToLower(line), "disallow") && rng.IntN(3) == 0
	}), ""))
}

// changedRows returns the changed rows of the command, and those of a join of two runs.
const (
	changedColumns = "line, url, origin, agent, allowed_old, allowed, rule_line_old, rule_line, rule_old, rule, change"
	changedJoin    = `select n.line, n.url, n.origin, n.agent, o.allowed as allowed_old, n.allowed,
		o.rule_line as rule_line_old, n.rule_line, o.rule as rule_old, n.rule,
		case when n.allowed is not distinct from false and o.allowed is distinct from false then 'closed'
			when o.allowed is not distinct from false and n.allowed is distinct from false then 'opened'
			else 'other_rule' end as change
		from %s n join %s o on n.line = o.line and n.agent = o.agent and n.input = o.input
		where n.allowed is distinct from o.allowed or n.rule is distinct from o.rule`
)

// TestDiff compares the changed rows of the command with a join of two runs. A generator has changed one rules file
// in 50. The command must write every changed row, and no others.
func TestDiff(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c corpus) {
		edited, changed := editRules(t, c.rules)
		agents := []string{"*", "Googlebot", "GPTBot"}
		old, _ := job{rules: c.rules, inputs: []string{c.urls}, agents: agents}.run(t, ".parquet")
		now, _ := job{rules: edited, inputs: []string{c.urls}, agents: agents}.run(t, ".parquet")
		d := openDuck(t)
		rows := func(query string) []string {
			return d.strings("select to_json(r)::varchar from (select " + changedColumns + " from (" + query + ") order by line, agent) r")
		}
		want := rows(fmt.Sprintf(changedJoin, quote(now), quote(old)))
		var texts [2][]byte
		for i, workers := range []string{"1", "3"} {
			out := filepath.Join(t.TempDir(), "changes.parquet")
			report := runOK(t, nil, "diff", "-old", c.rules, "-rules", edited, "-in", c.urls, "-agent", strings.Join(agents, ","),
				"-workers", workers, "-out", out, "-print", "json", "-progress", "off")
			sameTexts(t, "changes", rows("select * from "+quote(out)), want, 100)
			checkOrigins(t, d, out, changed)
			checkReport(t, d, out, report)
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = append(text, report...)
		}
		if string(texts[0]) != string(texts[1]) {
			t.Error("three workers write other bytes than one")
		}
	})
}

// checkOrigins checks that all changes are at origins whose file was changed.
func checkOrigins(t *testing.T, d duck, out string, changed map[string]bool) {
	t.Helper()
	for _, origin := range d.strings("select distinct origin from " + quote(out)) {
		scheme, host, _ := strings.Cut(origin, "://")
		if !changed[scheme+"_"+host+".txt"] && !changed[host+".txt"] {
			t.Errorf("something changed at %s, whose robots.txt did not", origin)
		}
	}
}

// checkReport compares the numbers of the report with counts of changed rows.
func checkReport(t *testing.T, d duck, out string, text []byte) {
	t.Helper()
	type count struct{ Requests, URLs int64 }
	var report struct {
		Agents []struct {
			Agent          string
			Closed, Opened count
			OtherRule      count `json:"other_rule"`
			Changes        []struct {
				Change   string
				Rules    []count
				Families []count
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	for _, a := range report.Agents {
		for change, got := range map[string]count{"closed": a.Closed, "opened": a.Opened, "other_rule": a.OtherRule} {
			var want count
			d.row("select count(*), count(distinct url) from "+quote(out)+" where agent = "+quote(a.Agent)+" and change = "+quote(change), &want.Requests, &want.URLs)
			if got != want {
				t.Errorf("%s for %s: %+v, want %+v", change, a.Agent, got, want)
			}
		}
	}
	if len(report.Agents) != 3 {
		t.Errorf("%d agents", len(report.Agents))
	}
}

// TestDiffSchema checks reports against their schema: for a log with status codes, for many origins, and
// without a log.
func TestDiffSchema(t *testing.T) {
	schema := compileSchema(t, "diff.schema.json")
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	old, now := write("old.txt", "User-agent: *\nDisallow: /a\n"), write("new.txt", "User-agent: *\nDisallow: /b\xff\n")
	log := write("log.csv", "url,status\nhttps://a.com/a,200\nhttps://a.com/b%FF,\nhttps://a.com/b\xff,404\nnone,1\n")
	edited, _ := editRules(t, quickstart(t, "rules"))
	for _, args := range [][]string{
		{"-old", old, "-rules", now, "-origin", "https://a.com", "-in", log, "-agent", "Googlebot,*", "-fail", "closed=100%"},
		{"-old", old, "-rules", now},
		{"-old", quickstart(t, "rules"), "-rules", edited, "-in", quickstart(t, "urls.zst"), "-progress", "off"},
		{"-old", quickstart(t, "rules"), "-rules", edited, "-agent", "Googlebot"},
	} {
		validate(t, schema, runOK(t, nil, append([]string{"diff", "-print", "json"}, args...)...))
	}
	cmd := exec.Command(command, "diff", "-old", old, "-rules", now, "-print", "json", "-fail", "changed=0")
	out, _ := cmd.Output()
	if validate(t, schema, out); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
	}
	if err := schema.Validate(map[string]any{"unit": "path"}); err == nil {
		t.Error("the schema takes a report without crawlers")
	}
}
