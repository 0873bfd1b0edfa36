package weblog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// linesOf returns the first lines of a sample of testdata/formats.
func linesOf(t *testing.T, name string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "formats", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimRight(bytes.ReplaceAll(text, []byte("\r"), nil), "\n"), []byte{'\n'})
	return lines[:min(len(lines), DetectLines)]
}

// readAs returns everything that a parser reads from lines.
func readAs(t *testing.T, lines [][]byte, f Format, prefix string) (rows []string) {
	t.Helper()
	opt := Options{Base: "https://base.example", Agents: true, Times: true, Clients: true, ClientAt: 1, Keep: []string{NameStatus, NameTime}, Optional: []string{NameStatus, NameTime}}
	if f == CDXJ || f == CSV || f == TSV || f == W3C {
		opt.Clients = false
	}
	p, err := New(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	if prefix != "" {
		p = Behind(prefix, p, &opt)
	}
	if s, ok := p.(Sampler); ok {
		s.Sample(lines)
	}
	var r Row
	for _, line := range lines {
		result := p.Parse(line, &r)
		if result == IsRow {
			rows = append(rows, fmt.Sprintf("%s %s %s %d %q", r.AppendURL(nil), r.Client, r.Agent, r.Time, r.Fields))
		} else {
			rows = append(rows, strconv.FormatBool(result.Refused()))
		}
	}
	return rows
}

// TestPrefixes reads samples of all line-based formats, without and with each prefix: the rows must be the same.
func TestPrefixes(t *testing.T) {
	fronts := []string{
		"", "<190>Mar  3 10:15:00 web-01 nginx: ", "<190>Mar 13 10:15:00 web-01.example.org nginx[12]: ", "<190>Mar 13 10:15:00 nginx: ",
		"<190>1 2026-03-03T10:15:00.123Z web-01 nginx 12 access - ", `<190>1 2026-03-03T10:15:00+01:00 web-01 nginx - - [a@1 b="c d"] `, "87 <158>1 2026-03-03T10:15:00+00:00 host nginx web.1 - ",
		"<190>2026-03-03T10:15:00+00:00 web-01 nginx[12]: ", "<13>nginx: ", "Mar  3 10:15:00 web-01 nginx: ", "Mar 03 10:15:00.123456 web-01 nginx[12]: ",
		"web-7d9c6b-x2x4z nginx ", "web-0 nginx 2026-03-03T10:15:00.123456789Z ", "prod web-7d9c6b-x2x4z nginx ", // stern
		"2026/03/03 10:15:00 ", // Go
		"2026-03-03T10:15:00+0000 web-01 nginx[12]: ", "Tue 2026-03-03 10:15:00 UTC web-01 nginx[12]: ", "nginx: ", "2026-03-03T10:15:00+00:00 app[web.1]: ",
		"2026-03-03T10:15:00.123456789Z stdout F ", "2026-03-03T10:15:00.1+01:00 stderr P ", "2026-03-03T10:15:00.123456789Z ", "web-1  | ", "web-1  | 2026-03-03T10:15:00.123456789Z ",
		"[pod/web-7d4b9/nginx] ", "[pod/web-7d4b9/nginx] 2026-03-03T10:15:00Z ", "access.log:", "/var/log/nginx/access_log:", "logs/access.log:17:", "17:", "\x1e", "docker", "filebeat",
		"<190>1 2026-03-03T10:15:00.003Z web1 nginx 812 - - ", "web.1.k3j2h1@node-a    | ", "1769882400.123456 web1 nginx[812]: ", "2026-03-03T10:15:00.123000+00:00 ecs/nginx/abcdef ", "    17\t",
		"/var/log/syslog:17:Mar  3 10:15:00 web1 nginx[812]: ", "logs/syslog:Mar  3 10:15:00 web1 nginx[812]: ", "2026-03-03T10:15:00.123456789Z stdout F Mar  3 10:15:00 web1 nginx: ", "web-1  | Mar  3 10:15:00 web1 nginx: ",
	}
	members := map[string][2]string{"docker": {"log", "time"}, "filebeat": {"message", "@timestamp"}}
	for _, front := range fronts[1:] { // the addresses were anonymised
		line := []byte(front + `xxx - - [31/Jan/2026:18:00:03 +0000] "GET /a HTTP/1.1" 200 12`)
		if f, prefix := Choose([][]byte{line}, Auto, Options{}); prefix == "" && strings.HasSuffix(front, " ") {
			t.Errorf("%s: %s behind nothing", line, f)
		}
	}
	for name, want := range map[string]Format{
		"nginx-combined.log": Combined, "nginx-vhost.log": Combined, "apache-vhost.log": Combined, "apache-common.log": Combined, "varnish.log": Combined,
		"nginx-proxy-manager.log": NPM, "alb.log": ALB, "elb.log": ALB, "haproxy.log": HAProxy, "squid.log": Squid, "s3.log": S3, "envoy.log": Envoy, "istio.log": Envoy, "ltsv.log": LTSV,
		"nginx-json.jsonl": JSON, "caddy.jsonl": JSON, "semicolons.csv": CSV, "table.tsv": TSV, "iis-w3c.log": W3C, "index.cdxj": CDXJ,
	} {
		lines := linesOf(t, name)
		rows := readAs(t, lines, want, "")
		for _, front := range fronts {
			var all [][]byte
			for _, line := range lines {
				if names, wrapped := members[front]; wrapped {
					text, err := json.Marshal(map[string]string{names[0]: string(line) + "\n", "stream": "stdout", names[1]: "2026-03-03T10:15:00.123456789Z"})
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, text)
				} else {
					all = append(all, append([]byte(front), line...))
				}
			}
			f, prefix := Choose(all, Auto, Options{})
			if f != want || front == "" && prefix != "" {
				t.Errorf("%s behind %q: %s behind %q", name, front, f, prefix)
				continue
			}
			got := readAs(t, all, f, prefix)
			for i := range rows {
				// a missing time may be that of the prefix, and JSON has no invalid UTF-8
				if lacks := strings.Contains(rows[i], strconv.Itoa(NoTime)); got[i] != rows[i] && !lacks && (members[front][0] == "" || bytes.Equal(lines[i], bytes.ToValidUTF8(lines[i], nil))) {
					t.Errorf("%s behind %q as %q: %s, want %s", name, front, prefix, got[i], rows[i])
					break
				}
			}
		}
	}
}

// TestColumnsBeforeJSON checks that a time before an object is the time of the row, including its clock.
func TestColumnsBeforeJSON(t *testing.T) {
	for _, front := range []string{"2026/03/03 10:15:00.123\t\x1b[34mINFO\x1b[0m\tlog0\t", "2026-03-03T10:15:00.123Z web-1 nginx "} {
		lines := [][]byte{[]byte(front + `{"request":{"uri":"/a","host":"a.example"}}`)}
		f, prefix := Choose(lines, Auto, Options{})
		p := Behind(prefix, newJSON(Options{Times: true}), &Options{Times: true})
		var r Row
		if p.Parse(lines[0], &r); f != JSON || string(r.AppendURL(nil)) != "http://a.example/a" || r.Time != 1772532900123000 {
			t.Errorf("%q: %s behind %q, %s, %d", front, f, prefix, r.AppendURL(nil), r.Time)
		}
	}
}
