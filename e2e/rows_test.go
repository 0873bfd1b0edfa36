package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rowsJob is a run over two logs, one with bad URLs, with three agents.
func rowsJob(t *testing.T, flags ...string) job {
	t.Helper()
	bad := filepath.Join(t.TempDir(), "bad.txt")
	text := "no url\nhttps://www.dol.gov/node/1\nhttp://a.example/\xff\n" + strings.Repeat("x", 64<<10) + "\n"
	if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return job{
		rules:  quickstart(t, "rules"),
		inputs: []string{quickstart(t, "urls.zst"), bad},
		agents: []string{"*", "Googlebot-Image", "GPTBot"},
		flags:  flags,
	}
}

// sameTexts reports the first row that differs. There must be at least the wanted number of rows.
func sameTexts(t *testing.T, what string, got, want []string, least int) {
	t.Helper()
	if len(want) < least {
		t.Errorf("%s: only %d rows to compare", what, len(want))
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d is %s, want %s", what, i, got[i], want[i])
		}
	}
}

// TestWide compares the wide layout with DuckDB's PIVOT of the long one.
func TestWide(t *testing.T) {
	d := openDuck(t)
	j := rowsJob(t)
	long, _ := j.run(t, ".parquet")
	pivot := `from (pivot (select line, input, url, origin, agent, allowed, reason, rule_line, rule from ` + quote(long) + `)
		on agent in ('*', 'Googlebot-Image', 'GPTBot')
		using first(allowed) as allowed, first(reason) as reason, first(rule_line) as rule_line, first(rule) as rule
		group by line, input, url, origin)`
	for _, columns := range [][]string{{"allowed", "rule_line"}, {"rule", "reason", "allowed"}} {
		j := j
		var names, values []string
		for _, col := range columns {
			for _, agent := range [][2]string{{"*", "star"}, {"Googlebot-Image", "googlebot_image"}, {"GPTBot", "gptbot"}} {
				names = append(names, col+"_"+agent[1])
				values = append(values, `"`+agent[0]+"_"+col+`"`)
			}
		}
		j.flags = []string{"-layout", "wide", "-columns", "line,input,url,origin," + strings.Join(columns, ",")}
		wide, stats := j.run(t, ".parquet")
		var list string
		d.row("select string_agg(column_name, ',') from (describe from "+quote(wide)+")", &list)
		if want := "line,input,url,origin," + strings.Join(names, ","); list != want {
			t.Errorf("columns %s, want %s", list, want)
		}
		base := "select concat_ws('|', line, input, coalesce(url, '-'), coalesce(origin, '-'), "
		got := d.strings(base + nullable(names) + ") from " + quote(wide) + " order by file_row_number")
		want := d.strings(base + nullable(values) + ") " + pivot + " order by input like '%bad.txt', line")
		sameTexts(t, strings.Join(columns, ","), got, want, 32_000)
		if md := d.metadata(wide); md["robobatch.layout"] != "wide" || stats.Rows != 3*int64(len(got)) {
			t.Errorf("layout %s, %d verdicts of %d URLs", md["robobatch.layout"], stats.Rows, len(got))
		}
	}
}

// nullable returns columns as texts, including nulls.
func nullable(columns []string) string {
	all := slices.Clone(columns)
	for i, col := range all {
		all[i] = "coalesce(" + col + "::varchar, '-')"
	}
	return strings.Join(all, ", ")
}

// TestWhere compares filtered output with all rows filtered by SQL, in both layouts.
func TestWhere(t *testing.T) {
	d := openDuck(t)
	names := strings.Split("line,input,url,origin,agent,allowed,reason,rule_line,rule", ",")
	wideNames := strings.Split("line,input,url,origin,allowed_star,allowed_googlebot_image,allowed_gptbot,rule_line_star,rule_line_googlebot_image,rule_line_gptbot", ",")
	for _, tt := range []struct {
		flags, names []string
		where, sql   string
		least        int
	}{
		{nil, names, "disallowed", "not allowed", 5000},
		{nil, names, "allowed", "allowed", 50_000},
		{nil, names, "bad", "reason = 'bad_url'", 6},
		{nil, names, "bad,disallowed", "reason = 'bad_url' or not allowed", 5006},
		{[]string{"-layout", "wide"}, wideNames, "disallowed", "not allowed_star or not allowed_googlebot_image or not allowed_gptbot", 2000},
		{[]string{"-layout", "wide"}, wideNames, "allowed", "allowed_star or allowed_googlebot_image or allowed_gptbot", 20_000},
		{[]string{"-layout", "wide"}, wideNames, "bad", "origin is null", 2},
	} {
		j := rowsJob(t, tt.flags...)
		all, want := j.run(t, ".parquet")
		j.flags = append(j.flags, "-where", tt.where)
		some, got := j.run(t, ".parquet")
		got.equal(t, "-where "+tt.where, want) // the statistics count all rows
		query := "select concat_ws('|', " + nullable(tt.names) + ") from "
		sameTexts(t, tt.where, d.strings(query+quote(some)+" order by file_row_number"),
			d.strings(query+quote(all)+" where "+tt.sql+" order by file_row_number"), tt.least)
		if md := d.metadata(some); md["robobatch.where"] == "" {
			t.Error("the metadata have no filter")
		}
	}
}
