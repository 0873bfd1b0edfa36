package weblog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// TestRoles reads the last of several lines of JSON, whose fields have roles according to their names, their values,
// and each other.
func TestRoles(t *testing.T) {
	const base = "https://b.example"
	for _, test := range []struct {
		about, lines, named           string
		url, client, time, agent, not string
	}{
		{about: "a path and its query", lines: `{"uri":"/list","args":"a=1"}`, url: "https://b.example/list?a=1"},
		{about: "a query with its mark", lines: `{"url.path":"/list","url.query":"?a=1"}`, url: "https://b.example/list?a=1"},
		{about: "no query", lines: `{"uri":"/list","args":"-"}`, url: "https://b.example/list"},
		{about: "a null query", lines: `{"uri":"/list","args":"a=1"}|{"uri":"/list","args":null}`, url: "https://b.example/list"},
		{about: "a target that has one", lines: `{"uri":"/list?b=2","args":"a=1"}`, url: "https://b.example/list?b=2", not: "args"},
		{about: "a path under the name of a URL", lines: `{"request_uri":"/list","args":"a=1"}`, url: "https://b.example/list?a=1"},
		{about: "a target without a query", lines: `{"request_uri":"/x?b=2","args":"b=2"}|{"request_uri":"/list","args":"a=1"}`, url: "https://b.example/list"},
		{about: "a search beside a URL", lines: `{"url":"https://a.example/","query":"shoes"}`, url: "https://a.example/"},
		{about: "a search beside clicks", lines: `{"path":"/x","query":"shoes","clicks":1}`, url: "https://b.example/x"},
		{about: "words beside a path", lines: `{"path":"/x","query":"red shoes"}`, url: "https://b.example/x"},
		{about: "a query beside a path", lines: `{"path":"/x","query":"a=1"}`, url: "https://b.example/x?a=1"},
		{about: "the request before the path", lines: `{"uri":"/index.php","request":"GET /list?a=1 HTTP/1.1"}`, url: "https://b.example/list?a=1"},
		{about: "a template", lines: `{"path":"/users/{id}","request_path":"/users/7"}`, url: "https://b.example/users/7"},
		{about: "Envoy", lines: `{"authority":"a.example","path":"/x","response_code":200}`, url: "https://a.example/x"},
		{about: "Traefik, with a port", lines: `{"RequestPath":"/x","RequestHost":"a.example","RequestPort":"8443","RequestAddr":"a.example:8443","DownstreamStatus":200}`, url: "https://a.example:8443/x"},
		{about: "Traefik", lines: `{"RequestPath":"/x","RequestHost":"a.example","DownstreamStatus":200,"ServiceURL":"http://10.0.0.1"}`, url: "https://a.example/x"},
		{about: "a machine without a dot", lines: `{"uri":"/x","host":"web-01"}`, url: "https://b.example/x", not: "host (a machine: web-01)"},
		{about: "a machine of a cloud", lines: `{"uri":"/x","host":"ip-10-0-0-1.ec2.internal"}`, url: "https://b.example/x"},
		{about: "a machine beside others' fields", lines: `{"uri":"/x","host":"web.example","@timestamp":"2026-01-31T18:00:00Z"}`, url: "https://b.example/x", time: "2026-01-31T18:00:00Z"},
		{about: "a few odd hosts", lines: `{"uri":"/x","host":"x"}|{"uri":"/x","host":"a.example"}`, url: "https://a.example/x"},
		{about: "a few odd queries", lines: `{"uri":"/x","args":"a b"}|{"uri":"/x","args":"a=1"}`, url: "https://b.example/x?a=1"},
		{about: "no server name", lines: `{"uri":"/x","server_name":"_"}`, url: "https://b.example/x"},
		{about: "a host that is the client", lines: `{"uri":"/x","host":"192.0.2.7"}`, url: "https://b.example/x", client: "192.0.2.7"},
		{about: "a host of an address", lines: `{"uri":"/x","host":"192.0.2.7","remote_addr":"192.0.2.8"}`, url: "https://192.0.2.7/x", client: "192.0.2.8"},
		{about: "a host that was named", lines: `{"uri":"/x","host":"web-01"}`, named: "host=host", url: "https://web-01/x"},
		{about: "no host", lines: `{"uri":"/x","host":"a.internal"}`, named: "host=none", url: "https://b.example/x"},
		{about: "a URL that was named", lines: `{"uri":"/x","a":{"b":"/y"},"args":"q"}`, named: "url=a.b", url: "https://b.example/y"},
		{about: "a query that was named", lines: `{"uri":"/x","q":"a=1"}`, named: "query=q", url: "https://b.example/x?a=1"},
		{about: "no query by name", lines: `{"uri":"/x","args":"a=1"}`, named: "query=none", url: "https://b.example/x"},
		{about: "the proxy's word", lines: `{"uri":"/x","remote_addr":"10.0.0.1","http_x_real_ip":"192.0.2.7"}`, url: "https://b.example/x", client: "192.0.2.7"},
		{about: "the client before what was passed on", lines: `{"uri":"/x","x_forwarded_for":"192.0.2.9","remote_addr":"192.0.2.7"}`, url: "https://b.example/x", client: "192.0.2.7"},
		{about: "only what was passed on", lines: `{"uri":"/x","x_forwarded_for":"192.0.2.9:4711"}`, url: "https://b.example/x", client: "192.0.2.9"},
		{about: "a port of IPv6", lines: `{"uri":"/x","remote_addr":"[2001:db8::1]:4711"}`, url: "https://b.example/x", client: "2001:db8::1"},
		{about: "a day and its clock", lines: `{"uri":"/x","date":"2026-01-31","time":"18:00:00"}`, url: "https://b.example/x", time: "2026-01-31T18:00:00Z"},
		{about: "a clock alone", lines: `{"uri":"/x","time":"18:00:00"}`, url: "https://b.example/x"},
		{about: "the event before the log", lines: `{"uri":"/x","@timestamp":"2026-01-31T19:00:00Z","timestamp":"2026-01-31T18:00:00Z"}`, url: "https://b.example/x", time: "2026-01-31T18:00:00Z"},
		{about: "how long it took", lines: `{"uri":"/x","time":0.125,"datetime":"2026-01-31 18:00:00"}`, url: "https://b.example/x", time: "2026-01-31T18:00:00Z"},
		{about: "escapes of CloudFront", lines: `{"cs-uri-stem":"/a%20b","x-edge-location":"F","cs(user-agent)":"a%20b"}`, url: "https://b.example/a%20b", agent: "a b"},
		{about: "escapes of nobody", lines: `{"uri":"/a%20b","ua":"a%20b"}`, url: "https://b.example/a%20b", agent: "a b"},
		{about: "a number for the User-Agent", lines: `{"uri":"/x","user_agent":17,"ua":"bot"}`, url: "https://b.example/x", agent: "bot"},
		{about: "headers by name and value", lines: `{"httpRequest":{"clientIp":"192.0.2.7","uri":"/x","args":"a=1","headers":[{"name":"host","value":"a.example"},{"name":"User-Agent","value":"bot"}]}}`, url: "https://a.example/x?a=1", client: "192.0.2.7", agent: "bot"},
		{about: "other lines later", lines: `{"uri":"/a","http_user_agent":"a"}|{"request":{"uri":"/x","host":"c.example","headers":{"User-Agent":["bot"]}},"ts":1769882400}`, url: "https://c.example/x", time: "2026-01-31T18:00:00Z", agent: "bot"},
		{about: "a scheme that is off", lines: `{"uri":"/x","https":"off"}`, url: "http://b.example/x"},
		{about: "a port", lines: `{"uri":"/x","host":"a.example","port":80}`, url: "http://a.example/x"},
	} {
		opt := Options{Base: robots.Origin(base), Agents: true, Times: true, Clients: true, Named: map[string]string{}}
		if role, name, ok := strings.Cut(test.named, "="); ok {
			opt.Named[role] = name
		}
		j := newJSON(opt)
		var lines [][]byte
		for line := range strings.SplitSeq(test.lines, "|") {
			lines = append(lines, []byte(line))
		}
		sample := lines
		if strings.HasPrefix(test.about, "other lines") {
			sample = lines[:1]
		}
		took := j.Sample(sample).Took
		var r Row
		for _, line := range lines {
			if result := j.Parse(line, &r); result != IsRow {
				t.Errorf("%s: %v, %v", test.about, result, j.Err())
			}
		}
		at := ""
		if r.Time != NoTime {
			at = time.UnixMicro(r.Time).UTC().Format(time.RFC3339)
		}
		if url := string(r.AppendURL(nil)); url != test.url || string(r.Client) != test.client || at != test.time || string(r.Agent) != test.agent {
			t.Errorf("%s: %s, client %q, time %q, User-Agent %q; took %v", test.about, url, r.Client, at, r.Agent, took.Fields)
		}
		if not := strings.Join(took.Unread, ", "); test.not != "" && test.not != "args" && not != test.not {
			t.Errorf("%s: not read: %s", test.about, not)
		}
		if r.Queries != (test.not == "args") {
			t.Errorf("%s: two queries: %t", test.about, r.Queries)
		}
	}
}

// TestTook checks the description of the fields.
func TestTook(t *testing.T) {
	j := newJSON(Options{Base: "https://b.example"})
	line := `{"uri":"/list","args":"a=1","msec":"1769882400.125","remote_addr":"192.0.2.1","request_method":"GET","status":"200","http_user_agent":"bot","request_id":"7","hostname":"web-01"}`
	took := j.Sample([][]byte{[]byte(line)}).Took
	if got := took.Producer + ": " + strings.Join(took.Fields, "; "); got != "nginx: url = uri + args (decoded: log $request_uri); host = -base; client = remote_addr; time = msec (s); agent = http_user_agent; status = status" {
		t.Error(got)
	}
	if got := strings.Join(took.Unread, ", "); got != "request_id, hostname (machine: web-01)" {
		t.Error(got)
	}
}

// TestNamedRoles names fields of tables and of W3C for roles.
func TestNamedRoles(t *testing.T) {
	for _, test := range []struct {
		format     Format
		text, role string
		name, url  string
		err        error
	}{
		{CSV, "path,query,host\n/x,a=1,h.example", "host", "none", "https://b.example/x?a=1", nil},
		{CSV, "path,query,host\n/x,a=1,h.example", "query", "none", "https://h.example/x", nil},
		{CSV, "path,q\n/x,a=1", "query", "Q", "https://b.example/x?a=1", nil},
		{CSV, "path,q\n/x,a=1", "query", "z", "", ErrNoField},
		{TSV, "a\tb\n/x\t/y", "url", "b", "https://b.example/y", nil},
		{W3C, "#Fields: cs-uri-stem cs-uri-query x\n/x a=1 b=2", "query", "x", "https://b.example/x?b=2", nil},
		{W3C, "#Fields: cs-uri-stem cs-uri-query x\n/x a=1 b=2", "query", "y", "", ErrNoField},
		{W3C, "#Fields: cs-uri-stem cs-uri-query x\n/x a=1 b=2", "url", "x", "b=2", nil},
	} {
		p, err := New(test.format, Options{Base: "https://b.example", Named: map[string]string{test.role: test.name}})
		if err != nil {
			t.Fatal(err)
		}
		var lines [][]byte
		for line := range strings.SplitSeq(test.text, "\n") {
			lines = append(lines, []byte(line))
		}
		p.(Sampler).Sample(lines)
		var r Row
		for _, line := range lines {
			if p.Parse(line, &r) == Failed {
				break
			}
		}
		if got := string(r.AppendURL(nil)); got != test.url || !errors.Is(p.Err(), test.err) || test.err == nil && p.Err() != nil {
			t.Errorf("%s with %s=%s: %s, %v", test.format, test.role, test.name, got, p.Err())
		}
	}
}
