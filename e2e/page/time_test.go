package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFarTimes opens the report of a month of requests, except for one in 1970 and one in 9999.
func TestFarTimes(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	row := func(at time.Time, path string) {
		fmt.Fprintf(&log, "192.0.2.1 - - [%s] \"GET /%s HTTP/1.1\" 200 5 \"-\" \"Googlebot/2.1\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), path)
	}
	row(time.Unix(0, 0).UTC(), "first")
	for i := range 600 {
		row(time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC), fmt.Sprint(i))
	}
	row(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "last")
	for name, text := range map[string]string{"access.log": log.String(), "robots.txt": "User-agent: *\nDisallow: /first\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "report.html")
	run := exec.Command(command, "report", "-rules", "robots.txt", "-base", "https://a.example", "-in", "access.log", "-agent-from-log", "-out", name, "-quiet")
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run, err, out)
	}
	tb := open(t, name, "")
	const table = `document.querySelector('table[data-name="time"]')`
	if got := tb.text(`[` + table + `.tBodies[0].rows.length, ` + table + `.tBodies[0].rows[0].textContent, JSON.parse(document.getElementById("chart-data").textContent).starts.length].join(" ")`); got != "25 2026-01-012400024 25" {
		t.Errorf("the rows are %s", got)
	}
	tb.eval(table+`.tHead.rows[0].cells[1].querySelector("button").click()`, nil)
	got := tb.copied(`button[aria-label="Copy as CSV: the table of time"]`)
	rows := strings.Split(got, "\r\n")
	if want := "before,1,1,1,0,1,at 1970-01-01 00:00:00\r\nafter,1,0,0,0,1,at 9999-12-31 23:59:59\r\n"; !strings.HasSuffix(got, want) || len(rows) != 1+25+2+1 {
		t.Errorf("copied is %q", got)
	}
	tb.axe()
}
