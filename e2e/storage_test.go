package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// quickRun runs the command on the log of the quick start, with these flags, and returns the name
// of its output.
func quickRun(t *testing.T, out string, flags ...string) string {
	t.Helper()
	return logRun(t, out, append([]string{"-in", quickstart(t, "urls.zst")}, flags...)...)
}

// logRun is quickRun on another log, which the flags name.
func logRun(t *testing.T, out string, flags ...string) string {
	t.Helper()
	out = filepath.Join(t.TempDir(), out)
	args := append([]string{"-rules", quickstart(t, "rules"), "-out", out, "-quiet"}, flags...)
	cmd := exec.Command(command, args...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, msg)
	}
	return out
}

// TestCompressions lets DuckDB read each compression at its lowest and highest level, in short row groups.
func TestCompressions(t *testing.T) {
	d := openDuck(t)
	want := d.counts(quickRun(t, "x.parquet"))
	for _, flags := range []string{"zstd -level 1", "zstd -level 22", "snappy", "gzip", "gzip -level 9", "none"} {
		name, _, _ := strings.Cut(flags, " ")
		out := quickRun(t, "x.parquet", append(strings.Fields("-row-group 5000 -compression"), strings.Fields(flags)...)...)
		d.counts(out).equal(t, flags, want)
		var codec string
		d.row("select string_agg(distinct compression) from parquet_metadata("+quote(out)+")", &codec)
		if want := strings.NewReplacer("none", "uncompressed").Replace(name); strings.ToLower(codec) != want {
			t.Errorf("%s: compression %s", flags, codec)
		}
		var most int
		d.row("select max(row_group_num_rows) from parquet_metadata("+quote(out)+")", &most)
		if most != 5000 {
			t.Errorf("%s: a row group has %d rows", flags, most)
		}
	}
}

// TestStatistics compares the statistics that DuckDB finds with the values of each row group.
func TestStatistics(t *testing.T) {
	out := quickRun(t, "x.parquet", "-row-group", "7000", "-agent", "*,Googlebot")
	d := openDuck(t)
	for _, col := range []string{"line", "url", "origin", "agent", "allowed", "reason", "rule_line", "rule"} {
		query := fmt.Sprintf(`with groups as (
			select file_row_number // 7000 as id, min(%[1]s)::varchar as least, max(%[1]s)::varchar as most, count(*) - count(%[1]s) as nulls
			from read_parquet(%[2]s, file_row_number = true) group by all)
			select count(*), count(*) filter (least is not distinct from stats_min_value and most is not distinct from stats_max_value and nulls = stats_null_count)
			from groups join parquet_metadata(%[2]s) on id = row_group_id where path_in_schema = '%[1]s'`, col, quote(out))
		var all, same int
		d.row(query, &all, &same)
		if all != 10 || same != all {
			t.Errorf("%s: statistics of %d of %d row groups are right, want 10", col, same, all)
		}
	}
	// A reader that uses them to skip row groups must find the same rows.
	for _, where := range []string{"url = 'x'", "origin < 'https://n'", "url > 'https://www.s'", "allowed", "not allowed", "rule like 'Allow%'"} {
		var pruned, full int
		d.row("select count(*) from "+quote(out)+" where "+where, &pruned)
		d.row("select count(*) filter ("+where+") from "+quote(out), &full)
		if pruned != full {
			t.Errorf("%s: %d rows, want %d", where, pruned, full)
		}
	}
}
