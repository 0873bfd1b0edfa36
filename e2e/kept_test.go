package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// accessLine parses a line in Combined Log Format.
var accessLine = regexp.MustCompile(`^(\S+) \S+ \S+ \[(.*?)\] "(?:GET|HEAD|POST|OPTIONS) (.*?) HTTP/1\.[01]" (\d+) (\S+) "(.*?)" "(.*?)"`)

// escapedByte matches an escape that Apache writes for unprintable bytes.
var escapedByte = regexp.MustCompile(`\\x([0-9a-f]{2})`)

// TestKept lets DuckDB read the columns of -keep from a real access log, and compares each value
// with the log.
func TestKept(t *testing.T) {
	log, err := filepath.Abs(filepath.Join("..", "testdata", "formats", "apache-semicomplete.log"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "x.parquet")
	cmd := exec.Command(command, "-rules", quickstart(t, "rules"), "-in", log, "-base", "http://semicomplete.com", "-out", out, "-quiet",
		"-keep", "status,referer,time,bytes,client", "-keep", "user_agent")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, msg)
	}
	d := openDuck(t)
	var types string
	d.row("select string_agg(column_name || ' ' || column_type, ', ') from (describe select status, referer, time, bytes, client, user_agent from "+quote(out)+")", &types)
	if want := "status BIGINT, referer VARCHAR, time TIMESTAMP WITH TIME ZONE, bytes BIGINT, client VARCHAR, user_agent VARCHAR"; types != want {
		t.Errorf("types %s, want %s", types, want)
	}
	got := d.strings(`select concat_ws('|', url, status, coalesce(referer, '-'), epoch_us(time), coalesce(bytes::varchar, '-'), client, coalesce(user_agent, '-'))
		from ` + quote(out) + " order by line")
	i := 0
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		m := accessLine.FindSubmatch(line)
		if m == nil || i == len(got) {
			t.Fatalf("line %d is not read: %s", i+1, line)
		}
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		want := "http://semicomplete.com" + string(m[3]) + "|" + string(m[4]) + "|" + string(m[6]) + "|" +
			strconv.FormatInt(at.UnixMicro(), 10) + "|" + string(m[5]) + "|" + string(m[1]) + "|" + string(m[7])
		want = strings.ToUpper(escapedByte.ReplaceAllString(want, "%$1")) // Apache's \xe9 is a byte that is not UTF-8
		if strings.ToUpper(got[i]) != want {
			t.Fatalf("row %d is %s, want %s", i+1, got[i], want)
		}
		i++
	}
	if i != len(got) || i < 300 {
		t.Errorf("%d rows of %d lines", len(got), i)
	}
}
