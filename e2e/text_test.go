package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestText lets DuckDB read CSV and JSON Lines, compressed or not, with detected types,
// and compares every row with Parquet: verdicts with the origin and rule of several agents, and
// all columns of a real access log, including those of -keep.
func TestText(t *testing.T) {
	log, err := filepath.Abs(filepath.Join("..", "testdata", "formats", "apache-semicomplete.log"))
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "odd.jsonl")
	text := ""
	for i, s := range []string{`a \"b\", c`, `\r\nx`, `'`, `#`, ` x `, `\\N`, `é,\t`, `null`, `nan`} {
		text += fmt.Sprintf(`{"url":"https://example.com/%d","referer":"%s","time":"2026-01-31T18:00:0%d.25Z","took":%d.5,"hit":%v}`+"\n", i, s, i, i, i%2 == 0)
	}
	text += `{"url":"https://example.com/none"}` + "\n"
	if err := os.WriteFile(odd, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	edges := filepath.Join(t.TempDir(), "edges.parquet")
	if _, err := openDuck(t).db.Exec(`copy (select 'https://example.com/' as url, unnest(['', null, 'x', '""', ' ']) as ref,
		unnest([9223372036854775807, -9223372036854775808, 0, null, 1]) as n, unnest([0.1, -1e300, 5e-324, null, 1e21]::double[]) as f,
		unnest(['1969-12-31 23:59:59.999999Z', '0001-01-01 00:00:00Z', '9999-12-31 23:59:59Z', null, '2026-01-31 18:00:00Z']::timestamptz[]) as ts) to ` + quote(edges)); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"quickstart": {"-in", quickstart(t, "urls.zst"), "-agent", "*,Googlebot,GPTBot"},
		"log":        {"-in", log, "-base", "http://semicomplete.com", "-keep", "status,referer,time,bytes,user_agent"},
		"edges":      {"-in", edges, "-keep", "ref,n,f,ts"},
		"odd":        {"-in", odd, "-keep", "referer,time,took:float,hit:bool"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := openDuck(t)
			write := func(name string) string {
				out := filepath.Join(dir, name)
				cmd := exec.Command(command, append([]string{"-quiet", "-rules", quickstart(t, "rules"), "-out", out}, args...)...)
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd, err, msg)
				}
				return out
			}
			parquet := quote(write("x.parquet"))
			var rows int64
			d.row("select count(*) from "+parquet, &rows)
			for _, name := range []string{"x.csv", "x.csv.zst", "x.csv.gz", "x.jsonl", "x.jsonl.zst", "x.jsonl.gz"} {
				table := quote(write(name))
				var got, missing, more int64
				d.row("select count(*) from "+table, &got)
				d.row("select count(*) from (select * from "+parquet+" except all select * from "+table+")", &missing)
				d.row("select count(*) from (select * from "+table+" except all select * from "+parquet+")", &more)
				if got != rows || missing != 0 || more != 0 {
					t.Errorf("%s: %d rows, want %d; %d of Parquet's are missing, %d are others", name, got, rows, missing, more)
				}
			}
		})
	}
}
