package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestListing lets DuckDB read the table of the command rules as Parquet and as JSON Lines, and
// compares the two: both must have the same rows, and the right types.
func TestListing(t *testing.T) {
	dir := t.TempDir()
	parquet, lines := filepath.Join(dir, "x.parquet"), filepath.Join(dir, "x.jsonl")
	for _, out := range []string{parquet, lines} {
		cmd := exec.Command(command, "rules", "-rules", quickstart(t, "rules"), "-out", out, "-quiet")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, msg)
		}
	}
	d := openDuck(t)
	var rows, origins, diagnostics, dated int64
	d.row(`select count(*), count(distinct origin), count(*) filter (item = 'diagnostic' and code is not null and line > 0),
		count(*) filter (fetched_at > timestamptz '2000-01-01') from `+quote(parquet), &rows, &origins, &diagnostics, &dated)
	if rows < 10_000 || origins != 320 || diagnostics < 1000 || dated != rows {
		t.Errorf("%d rows, %d origins, %d diagnostics, %d dated", rows, origins, diagnostics, dated)
	}
	same := `select origin, source, url, outcome, status, error, fetched_at::timestamptz::varchar, size, truncated, item, group_id, agents, line, code, value from `
	fromLines := same + "read_json(" + quote(lines) + ", columns = {origin: 'varchar', source: 'varchar', url: 'varchar', outcome: 'varchar', " +
		"status: 'integer', error: 'varchar', fetched_at: 'timestamptz', size: 'bigint', truncated: 'boolean', item: 'varchar', group_id: 'integer', " +
		"agents: 'varchar', line: 'integer', code: 'varchar', value: 'varchar'})"
	var more, less int64
	d.row("select count(*) from ("+same+quote(parquet)+" except all "+fromLines+")", &more)
	d.row("select count(*) from ("+fromLines+" except all "+same+quote(parquet)+")", &less)
	if more != 0 || less != 0 {
		t.Errorf("%d rows are in Parquet alone, %d in JSON Lines alone", more, less)
	}
	t.Logf("%d rows of %d origins, %d diagnostics", rows, origins, diagnostics)
}
