package e2e

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A table is the result of a query, as text.
type table struct {
	columns []string
	rows    [][]string
}

// table runs a query. DuckDB formats the values, so they look as in its command line.
func (d duck) table(query string) (t table, err error) {
	query = strings.TrimRight(strings.TrimSpace(query), ";")
	types, err := d.db.Query("describe " + query)
	if err != nil {
		return t, err
	}
	defer types.Close()
	var casts []string
	for types.Next() {
		var name, kind string
		var rest [4]any
		if err := types.Scan(&name, &kind, &rest[0], &rest[1], &rest[2], &rest[3]); err != nil {
			return t, err
		}
		t.columns = append(t.columns, name)
		casts = append(casts, `coalesce("`+strings.ReplaceAll(name, `"`, `""`)+`"::varchar, 'NULL')`)
	}
	if err := types.Err(); err != nil {
		return t, err
	}
	rows, err := d.db.Query("select " + strings.Join(casts, ", ") + " from (" + query + ")")
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		row := make([]string, len(t.columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return t, err
		}
		t.rows = append(t.rows, row)
	}
	return t, rows.Err()
}

// String writes the table as duckdb -column does: values left-aligned under their headings.
func (t table) String() string {
	widths := make([]int, len(t.columns))
	for _, row := range append([][]string{t.columns}, t.rows...) {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	var sb strings.Builder
	line := func(row []string) {
		var text strings.Builder
		for i, value := range row {
			text.WriteString(value + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(value)+2))
		}
		sb.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	line(t.columns)
	rules := make([]string, len(widths))
	for i, w := range widths {
		rules[i] = strings.Repeat("-", w)
	}
	line(rules)
	for _, row := range t.rows {
		line(row)
	}
	return sb.String()
}

func TestTable(t *testing.T) {
	got, err := openDuck(t).table("select n, 'é' || n as \"a b\", n / 4 as q, null::varchar as none, n > 9 as yes from (values (7), (10)) v(n) order by n desc;")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
n   a b  q     none  yes
--  ---  ----  ----  -----
10  é10  2.5   NULL  true
7   é7   1.75  NULL  false
`, "\n")
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := openDuck(t).table("select nothing from nowhere"); err == nil {
		t.Error("a query that is wrong has a table")
	}
}
