package e2e

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// duck is a database in memory.
type duck struct {
	t  *testing.T
	db *sql.DB
}

func openDuck(t *testing.T) duck {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return duck{t, db}
}

// quote returns a file name as an SQL string.
func quote(name string) string { return "'" + strings.ReplaceAll(name, "'", "''") + "'" }

// row scans the single row of a query.
func (d duck) row(query string, dst ...any) {
	d.t.Helper()
	if err := d.db.QueryRow(query).Scan(dst...); err != nil {
		d.t.Fatalf("DuckDB: %s: %v", query, err)
	}
}

// strings returns the rows of a query of one column of text without nulls.
func (d duck) strings(query string) (list []string) {
	d.t.Helper()
	rows, err := d.db.Query(query)
	if err != nil {
		d.t.Fatalf("DuckDB: %s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			d.t.Fatalf("DuckDB: %s: %v", query, err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatalf("DuckDB: %s: %v", query, err)
	}
	return list
}

// counts reads a Parquet file.
func (d duck) counts(name string) counts {
	d.t.Helper()
	c := counts{Reasons: map[string]int64{}}
	d.row(`select count(*), count(*) filter (allowed), count(*) filter (not allowed), count(*) filter (allowed is null),
		coalesce(sum(rule_line), 0)::bigint, count(rule), coalesce(sum(strlen(url)), 0)::bigint from `+quote(name),
		&c.Rows, &c.Allowed, &c.Denied, &c.Unknown, &c.RuleLine, &c.Rules, &c.URLBytes)
	for _, reason := range d.strings("select distinct reason from " + quote(name)) {
		var n int64
		d.row("select count(*) from "+quote(name)+" where reason = "+quote(reason), &n)
		c.Reasons[reason] = n
	}
	return c
}

// invariants checks conditions that every row must meet for any data. Each query counts the rows that
// break one.
func (d duck) invariants(name string) {
	d.t.Helper()
	for what, where := range map[string]string{
		"a rule without a line, or a line without a rule": "(rule is null) <> (rule_line is null)",
		"a reason that does not go with the rule":         "(reason = 'rule') <> (rule is not null)",
		"a rule that says otherwise":                      "allowed <> starts_with(rule, 'Allow: ') and rule is not null",
		"a rule of neither kind":                          "rule is not null and not (starts_with(rule, 'Allow: ') or starts_with(rule, 'Disallow: '))",
		"a reason that does not go with the origin":       "(reason = 'bad_url') <> (origin is null)",
		"a bad URL with an answer":                        "reason = 'bad_url' and allowed is not null",
		"an origin that is not normal":                    "origin is not null and not regexp_full_match(origin, 'https?://[^/]*[^/:]')",
		"a line or a rule line below 1":                   "line < 1 or rule_line < 1",
	} {
		var n int64
		d.row("select count(*) from "+quote(name)+" where "+where, &n)
		if n != 0 {
			d.t.Errorf("%d rows of %s have %s", n, name, what)
		}
	}
	var pruned, full int64
	d.row("select count(*) from "+quote(name)+" where rule_line between 10 and 20", &pruned)
	d.row("select count(*) from "+quote(name)+" where rule_line + 0 between 10 and 20", &full)
	if pruned != full {
		d.t.Errorf("statistics hide rows: %d, not %d", pruned, full)
	}
}

// metadata reads the key-value metadata of a Parquet file.
func (d duck) metadata(name string) map[string]string {
	d.t.Helper()
	rows, err := d.db.Query("select key, value from parquet_kv_metadata(" + quote(name) + ")")
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	md := map[string]string{}
	for rows.Next() {
		var key, value []byte
		if err := rows.Scan(&key, &value); err != nil {
			d.t.Fatal(err)
		}
		md[string(key)] = string(value)
	}
	return md
}
