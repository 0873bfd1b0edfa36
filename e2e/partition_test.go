package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPartition lets DuckDB read partitioned outputs like those of Hive, and compares the counts by each
// partition column with those of one file.
func TestPartition(t *testing.T) {
	d := openDuck(t)
	agents := []string{"-agent", "Googlebot,GPTBot,*"}
	plain := quickRun(t, "x.parquet", agents...)
	for i, by := range []string{"origin", "agent", "allowed", "agent,allowed", "allowed,origin", "agent,allowed"} {
		order := []string{"origin", "none"}[i%2]
		t.Run(by+"+"+order, func(t *testing.T) {
			out := quickRun(t, "x", append(agents, "-partition-by", by, "-sort", order)...)
			tree := fmt.Sprintf("read_parquet(%s, hive_partitioning = true, hive_types = {%s})",
				quote(filepath.Join(out, "**", "*.parquet")), strings.ReplaceAll(by, ",", ": varchar, ")+": varchar")
			list := func(from string) []string {
				columns := strings.Split(by, ",")
				for i, col := range columns {
					columns[i] = "coalesce(" + col + "::varchar, 'null')"
				}
				key := strings.Join(columns, " || ' ' || ")
				return d.strings("select " + key + " || ' ' || count(*) || ' ' || count(rule) || ' ' || sum(line) || ' ' || sum(strlen(url)) from " + from + " group by " + key + " order by all")
			}
			got, want := list(tree), list(quote(plain))
			if !slices.Equal(got, want) || len(want) < 2 {
				t.Errorf("DuckDB counts\n%.500q, want\n%.500q", got, want)
			}
			// Every row is there, with the same values, whichever columns are read from names of
			// directories.
			var missing int
			columns := "line, input, url, origin, agent, allowed::varchar, reason, rule_line, rule"
			d.row("select count(*) from ((select "+columns+" from "+quote(plain)+" except all select "+columns+" from "+tree+"))", &missing)
			if missing > 0 {
				t.Errorf("%d rows are missing", missing)
			}
		})
	}
}

// TestPartitionDate compares the days of a real access log with those that DuckDB computes.
func TestPartitionDate(t *testing.T) {
	log, err := filepath.Abs(filepath.Join("..", "testdata", "formats", "apache-semicomplete.log"))
	if err != nil {
		t.Fatal(err)
	}
	d := openDuck(t)
	flags := []string{"-in", log, "-base", "http://semicomplete.com"}
	plain := logRun(t, "x.parquet", append(flags, "-keep", "time")...)
	tree := "read_parquet(" + quote(filepath.Join(logRun(t, "x", append(flags, "-partition-by", "date")...), "**", "*.parquet")) + ", hive_partitioning = true)"
	var kind string
	d.row("select column_type from (describe select date from "+tree+")", &kind)
	if kind != "DATE" {
		t.Errorf("the type of date is %s", kind)
	}
	got := d.strings("select date || ' ' || count(*) || ' ' || sum(line) from " + tree + " group by date order by date")
	want := d.strings("select (time at time zone 'UTC')::date || ' ' || count(*) || ' ' || sum(line) from " + quote(plain) + " group by (time at time zone 'UTC')::date order by 1")
	if !slices.Equal(got, want) || len(want) < 2 {
		t.Errorf("DuckDB counts\n%q, want\n%q", got, want)
	}
}

// TestSort compares the sorted output with the rows that DuckDB sorts, and what either takes.
func TestSort(t *testing.T) {
	d := openDuck(t)
	plain, sorted := quickRun(t, "x.parquet"), quickRun(t, "x.parquet", "-sort", "origin")
	columns := "line, url, origin, agent, allowed, reason, rule_line, rule"
	var differ int
	d.row(`select count(*) from (select `+columns+`, row_number() over (order by origin nulls last, file_row_number) as n from read_parquet(`+quote(plain)+`, file_row_number = true)
		except select `+columns+`, file_row_number + 1 from read_parquet(`+quote(sorted)+`, file_row_number = true))`, &differ)
	if differ > 0 {
		t.Errorf("%d rows differ from what DuckDB sorts", differ)
	}
}
