package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

// pipeRows is the minimum number of rows that go through a pipe in these tests.
const pipeRows = 5_000_000

// scripts returns a directory with the command and a pack of the rules, from which ClickHouse
// runs programs.
func scripts(t *testing.T, rules string) (dir, pack string) {
	t.Helper()
	dir = t.TempDir()
	pack = filepath.Join(dir, "rules.rbp")
	cmd := exec.Command(command, "compile", "-rules", rules, "-out", pack, "-quiet")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, msg)
	}
	if err := os.Symlink(command, filepath.Join(dir, "robobatch")); err != nil {
		t.Fatal(err)
	}
	return dir, pack
}

// A corpus is rules, and URLs, which a table contains several times.
type corpus struct{ rules, urls string }

// eachCorpus runs a test with the sample data, and with the large test data if it exists.
func eachCorpus(t *testing.T, test func(t *testing.T, c corpus)) {
	t.Helper()
	t.Run("quickstart", func(t *testing.T) { test(t, corpus{quickstart(t, "rules"), quickstart(t, "urls.zst")}) })
	t.Run("shared", func(t *testing.T) {
		t.Chdir("..") // where the helper looks from
		data := filepath.Join(repcase.SharedDir(t), "data")
		t.Chdir("e2e")
		dir := t.TempDir()
		untar(t, filepath.Join(data, "rules.tar.zst"), dir)
		test(t, corpus{filepath.Join(dir, "rules"), filepath.Join(data, "urls_real_shuffled.urls.zst")})
	})
}

// table returns a query for the URLs, repeated to pipeRows rows, and the counts of a run for that number of rows.
func (c corpus) table(t *testing.T) (query string, want counts) {
	t.Helper()
	_, want = job{rules: c.rules, inputs: []string{c.urls}}.run(t, ".parquet")
	times := (pipeRows + want.Rows - 1) / want.Rows
	for _, n := range []*int64{&want.Rows, &want.Allowed, &want.Denied, &want.Unknown, &want.RuleLine} {
		*n *= times
	}
	for reason := range want.Reasons {
		want.Reasons[reason] *= times
	}
	return fmt.Sprintf("select line as url, number as n, cityHash64(line, number) as h from file(%s, LineAsString, 'line String') as log cross join numbers(%d) as times",
		quote(c.urls), times), want
}

// pipedColumns are the output columns, as declared in ClickHouse.
const pipedColumns = "'url String, n UInt64, h UInt64, allowed Nullable(Bool), reason LowCardinality(String), rule_line Nullable(Int32)'"

// sums lets ClickHouse count the same as nodeCounts, in order, and the rows that have changed.
const sums = `select count(), countIf(allowed), countIf(not allowed), countIf(allowed is null), ifNull(sum(rule_line), 0),
	countIf(cityHash64(url, n) <> h), sumMap(map(toString(reason), 1)) from `

// checkSums compares the counts of ClickHouse.
func checkSums(t *testing.T, row []any, want counts) {
	t.Helper()
	number := func(v any) int64 {
		if text, ok := v.(string); ok {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		return int64(v.(float64))
	}
	got := counts{Rows: number(row[0]), Allowed: number(row[1]), Denied: number(row[2]), Unknown: number(row[3]), RuleLine: number(row[4]), Reasons: map[string]int64{}}
	for reason, n := range row[6].(map[string]any) {
		got.Reasons[reason] = number(n)
	}
	got.equal(t, "ClickHouse", want)
	if broken := number(row[5]); broken != 0 {
		t.Errorf("%d rows changed on their way", broken)
	}
}

// TestPipeClickHouse lets ClickHouse run the pipe as a table function over five million rows.
func TestPipeClickHouse(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c corpus) {
		dir, pack := scripts(t, c.rules)
		query, want := c.table(t)
		var results [][][]any
		started := time.Now()
		cpu := node(t, &results, "sql.js", dir, sums+fmt.Sprintf("executable('robobatch pipe -rules %s -columns allowed,reason,rule_line', ArrowStream, %s, (%s), %s)",
			pack, pipedColumns, query, patient))
		t.Logf("%d rows in %.1f s, %.1f s of processor time, all that ClickHouse does included", want.Rows, time.Since(started).Seconds(), cpu.Seconds())
		checkSums(t, results[0][0], want)
	})
}

// TestPipeFiles lets ClickHouse write a stream of five million rows, sends it through the pipe, and lets
// ClickHouse read the result.
func TestPipeFiles(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c corpus) {
		dir, pack := scripts(t, c.rules)
		query, want := c.table(t)
		in, out := filepath.Join(dir, "in.arrows"), filepath.Join(dir, "out.arrows")
		var results [][][]any
		node(t, &results, "sql.js", dir, fmt.Sprintf("insert into function file(%s, ArrowStream) %s", quote(in), query))
		cpu := pipeFile(t, in, out, "-rules", pack, "-columns", "allowed,reason,rule_line", "-workers", "1")
		t.Logf("%d rows in %.1f s of processor time: %.0f ns each", want.Rows, cpu.Seconds(), float64(cpu.Nanoseconds())/float64(want.Rows))
		node(t, &results, "sql.js", dir, sums+fmt.Sprintf("file(%s, ArrowStream, %s)", quote(out), pipedColumns))
		checkSums(t, results[0][0], want)
	})
}

// pipeFile runs the pipe from file to file, and returns its CPU time.
func pipeFile(t *testing.T, in, out string, args ...string) time.Duration {
	t.Helper()
	stdin, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	cmd := exec.Command(command, append([]string{"pipe"}, args...)...)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// patientXML and patient let ClickHouse wait an hour for a program instead of ten seconds.
const (
	patientXML = "<command_read_timeout>3600000</command_read_timeout><command_write_timeout>3600000</command_write_timeout>" +
		"<max_command_execution_time>3600</max_command_execution_time><command_termination_timeout>3600</command_termination_timeout>"
	patient = "settings command_read_timeout = 3600000, command_write_timeout = 3600000"
)

// functionXML declares a ClickHouse function that calls the pipe.
func functionXML(kind, name, flags, more string) string {
	return "<function><type>" + kind + "</type><name>" + name + "</name><return_type>Nullable(Bool)</return_type><return_name>allowed</return_name>" +
		"<argument><type>String</type><name>url</name></argument><format>ArrowStream</format>" +
		"<command>robobatch pipe -columns allowed " + flags + "</command>" + patientXML + more + "</function>"
}

// TestPipeFunctions lets ClickHouse call the pipe as a function that starts it for each block,
// and in pools that reuse it.
func TestPipeFunctions(t *testing.T) {
	dir, pack := scripts(t, quickstart(t, "rules"))
	rules := "-rules " + pack
	xml := "<functions>" + functionXML("executable", "robots_allowed", rules, "") +
		functionXML("executable_pool", "robots_pool", rules+" -pool", "<pool_size>1</pool_size>") +
		functionXML("executable_pool", "robots_headed", rules+" -pool", "<pool_size>1</pool_size><send_chunk_header>1</send_chunk_header>") + "</functions>"
	if err := os.WriteFile(filepath.Join(dir, "robots_function.xml"), []byte(xml), 0o600); err != nil {
		t.Fatal(err)
	}
	_, want := job{rules: quickstart(t, "rules"), inputs: []string{quickstart(t, "urls.zst")}}.run(t, ".parquet")
	var statements []string
	for _, function := range []string{"robots_allowed", "robots_pool", "robots_pool", "robots_headed", "robots_headed"} {
		statements = append(statements, fmt.Sprintf("select countIf(allowed), countIf(not allowed) from (select %s(line) as allowed from file(%s, LineAsString, 'line String')) settings max_block_size = 1000",
			function, quote(quickstart(t, "urls.zst"))))
	}
	var results [][][]any
	node(t, &results, "sql.js", append([]string{dir}, statements...)...)
	for i, rows := range results {
		if got, want := fmt.Sprint(rows[0]...), fmt.Sprint(want.Allowed, want.Denied); strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("%s\ncounts %s, want %s", statements[i], got, want)
		}
	}
}

// typedCSV is a log with columns of all types of -keep.
const typedCSV = `url,n,s,t,f,b
https://www.sba.gov/sites/default/files/x,9007199254740993,plain,2026-01-31T18:00:00.123456Z,0.1,true
https://www.sba.gov/,-1,"quoted, ""é""",1969-12-31T23:59:59Z,-2.5e300,false
no URL,,,,,
https://stray.example/,0,x,2026-01-31T18:00:00+02:00,3,true
`

// typedRows are the columns of typedCSV in JavaScript, with times in milliseconds.
var typedRows = [][]string{
	{"9007199254740993", "plain", "1769882400123.456", "0.1", "true"},
	{"-1", `quoted, "é"`, "-1000", "-2.5e+300", "false"},
	{"null", "null", "null", "null", "null"},
	{"0", "x", "1769875200000", "3", "true"},
}

// TestTypes lets JavaScript and ClickHouse read the columns of -keep, also after a pipe.
func TestTypes(t *testing.T) {
	dir, pack := scripts(t, quickstart(t, "rules"))
	in := filepath.Join(dir, "typed.csv")
	if err := os.WriteFile(in, []byte(typedCSV), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".parquet", ".arrow", ".arrows"} {
		out := filepath.Join(dir, "out"+ext)
		cmd := exec.Command(command, "-rules", pack, "-in", in, "-out", out, "-quiet", "-columns", "url,allowed", "-keep", "n:int,s:text,t:time,f:float,b:bool")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, msg)
		}
		checkTypedSums(t, dir, out)
		if ext != ".parquet" {
			checkTyped(t, out, "url: Utf8", "allowed: Bool")
		}
	}
	piped := filepath.Join(dir, "piped.arrows")
	pipeFile(t, filepath.Join(dir, "out.arrows"), piped, "-rules", pack, "-prefix", "v_")
	checkTypedSums(t, dir, piped)
	dictionary := "Dictionary<Int32, Utf8>"
	rows := checkTyped(t, piped, "url: Utf8", "allowed: Bool",
		"v_origin: "+dictionary, "v_allowed: Bool", "v_reason: "+dictionary, "v_rule_line: Int32", "v_rule: "+dictionary)
	want := []string{"https://www.sba.gov false rule 75 Disallow: /sites/default/files/*", "https://www.sba.gov true default null null", "null null bad_url null null", "https://stray.example true no_robots null null"}
	for i, row := range rows {
		if got := strings.Join(row[7:], " "); got != want[i] {
			t.Errorf("verdict %d is %q, want %q", i+1, got, want[i])
		}
	}
}

// checkTyped lets JavaScript read the columns of -keep, after two others and before the rest.
func checkTyped(t *testing.T, name string, others ...string) [][]string {
	t.Helper()
	var table struct {
		Types []string
		Rows  [][]*string
	}
	node(t, &table, "rows.js", name)
	types := slices.Concat(others[:2], []string{"n: Int64", "s: Utf8", "t: Timestamp<MICROSECOND, UTC>", "f: Float64", "b: Bool"}, others[2:])
	if !slices.Equal(table.Types, types) {
		t.Errorf("%s: types %q, want %q", name, table.Types, types)
	}
	rows := make([][]string, len(table.Rows))
	for i, row := range table.Rows {
		for _, cell := range row {
			text := "null"
			if cell != nil {
				text = *cell
			}
			rows[i] = append(rows[i], text)
		}
		if got := rows[i][2:7]; !slices.Equal(got, typedRows[i]) {
			t.Errorf("%s: row %d has %q, want %q", name, i+1, got, typedRows[i])
		}
	}
	if len(rows) != len(typedRows) {
		t.Errorf("%s: %d rows, want %d", name, len(rows), len(typedRows))
	}
	return rows
}

// checkTypedSums lets ClickHouse read the columns of -keep.
func checkTypedSums(t *testing.T, dir, name string) {
	t.Helper()
	format := map[string]string{".parquet": "Parquet", ".arrow": "Arrow", ".arrows": "ArrowStream"}[filepath.Ext(name)]
	var results [][][]any
	node(t, &results, "sql.js", dir, fmt.Sprintf(`select count(), count(n), toString(sum(n)), groupConcat('|')(s), toString(sum(toUnixTimestamp64Micro(t))), countIf(f = 0.1), countIf(f = -2.5e300),
		countIf(b), countIf(not b), countIf(allowed) from file(%s, %s)`, quote(name), format))
	got := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(results[0][0]), "[]")), " ")
	if want := `4 3 9007199254740992 plain|quoted, "é"|x 3539757599123456 1 1 2 1 2`; got != want {
		t.Errorf("%s: ClickHouse reads %s, want %s", name, got, want)
	}
}
