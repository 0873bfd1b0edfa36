package weblog

import (
	"strings"
	"testing"
)

// TestColumnsByValues checks that columns get roles according to their names and first values, in tables as exported by
// tools and services.
func TestColumnsByValues(t *testing.T) {
	for name, test := range map[string]struct {
		text, url, status, agent string
		time                     int64 // of the first row, in seconds; 0 if there is none
	}{
		"Screaming Frog": {
			"Address,Content Type,Status Code,Status,Indexability,Crawl Timestamp\nhttps://a.example/b,text/html,0,Blocked by robots.txt,Non-Indexable,2026-01-31 18:00:00\nhttps://a.example/,text/html,200,OK,Indexable,2026-01-31 18:00:01\n",
			"https://a.example/b", "0", "", 1769882400,
		},
		"status first":         {"Status,URL,Response Code\nOK,https://a.example/,200\n", "https://a.example/", "200", "", 0},
		"no code":              {"URL,Status\nhttps://a.example/,OK\n", "https://a.example/", "OK", "", 0},
		"status":               {"url,status_code,status\nhttps://a.example/,active,404\n", "https://a.example/", "404", "", 0},
		"both":                 {"url,status_code,status\nhttps://a.example/,200,404\n", "https://a.example/", "404", "", 0},
		"no rows":              {"url,status_code,status\n", "", "", "", 0},
		"Sitebulb":             {"URL;HTTP Status Code;Indexable;Page Title\nhttps://a.example/;200;Yes;Home\nhttps://a.example/dead;410;No;\n", "https://a.example/", "200", "", 0},
		"Semrush":              {"Page URL,HTTP Code\nhttps://a.example/,301\n", "https://a.example/", "301", "", 0},
		"Lumar":                {"url,http_status_code,level\nhttps://a.example/,200,1\n", "https://a.example/", "200", "", 0},
		"Oncrawl":              {"URL;Status code;Inrank\nhttps://a.example/;200;10\n", "https://a.example/", "200", "", 0},
		"Search Console":       {"URL,Last crawled\nhttps://a.example/,2026-01-31\n", "https://a.example/", "", "", 1769817600},
		"duration":             {"url,time,date\nhttps://a.example/,0.125,2026-01-31\n", "https://a.example/", "", "", 1769817600},
		"agent of a number":    {"url,user_agent,ua\nhttps://a.example/,17,Mozilla/5.0\n", "https://a.example/", "", "Mozilla/5.0", 0},
		"Logpush":              {"ClientRequestURI,ClientRequestHost,ClientRequestUserAgent,EdgeResponseStatus,EdgeStartTimestamp\n/x,a.example,curl/8,503,2026-01-31T18:00:00Z\n", "https://a.example/x", "503", "curl/8", 1769882400},
		"Athena of balancers":  {"request_url,elb_status_code,target_status_code,user_agent,time\nhttps://a.example/,502,-,curl/8,2026-01-31T18:00:00.5Z\n", "https://a.example/", "502", "curl/8", 1769882400},
		"Athena of CloudFront": {"date,time,uri,status,user_agent\n2026-01-31,18:00:00,https://a.example/,200,curl/8\n", "https://a.example/", "200", "curl/8", 1769882400},
	} {
		lines := strings.Split(strings.TrimSuffix(test.text, "\n"), "\n")
		first := make([][]byte, len(lines))
		for i, line := range lines {
			first[i] = []byte(line)
		}
		opt := Options{Base: "https://a.example", Agents: true, Times: true}
		if strings.Contains(strings.ToLower(lines[0]), "status") || strings.Contains(lines[0], "HTTP Code") {
			opt.Keep = []string{NameStatus}
		}
		p := newTable(opt, 0)
		p.Sample(first)
		var r Row
		if result := p.Parse(first[0], &r); result != NoRow {
			t.Errorf("%s: the header is %v: %v", name, result, p.Err())
			continue
		}
		if len(first) == 1 {
			continue
		}
		if result := p.Parse(first[1], &r); result != IsRow {
			t.Errorf("%s: the row is %v: %v", name, result, p.Err())
			continue
		}
		status := ""
		if len(r.Fields) > 0 {
			status = string(r.Fields[0])
		}
		if url := string(r.AppendURL(nil)); url != test.url || status != test.status || string(r.Agent) != test.agent {
			t.Errorf("%s: URL %q, status %q, agent %q", name, url, status, r.Agent)
		}
		if seconds := r.Time / 1e6; seconds != test.time && (test.time != 0 || r.Time != NoTime) {
			t.Errorf("%s: time %d", name, seconds)
		}
	}
}

// TestStatusOfJSON checks that the first valid status counts, in each line.
func TestStatusOfJSON(t *testing.T) {
	p := newJSON(Options{Keep: []string{NameStatus}})
	for line, want := range map[string]string{
		`{"url":"https://a.example/","status":"OK","status_code":200}`: "200",
		`{"url":"https://a.example/","status_code":200,"status":404}`:  "404",
		`{"url":"https://a.example/","status":"OK"}`:                   "OK",
		`{"url":"https://a.example/"}`:                                 "",
	} {
		var r Row
		if result := p.Parse([]byte(line), &r); result != IsRow || string(r.Fields[0]) != want {
			t.Errorf("%s: %v, %q", line, result, r.Fields[0])
		}
	}
}
