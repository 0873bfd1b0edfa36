package ingest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

var update = flag.Bool("update", false, "write the golden files of testdata/formats")

// samples are the logs of testdata/formats; their sources are in its README.
var samples = []struct {
	name   string
	format weblog.Format // expected
	keep   string        // name:kind
}{
	{"nginx-combined.log", weblog.Combined, "status:int,referer,user,time:time"},
	{"nginx-vhost.log", weblog.Combined, "host,status:int"},
	{"nginx-extra.log", weblog.Combined, "bytes:int"},
	{"nginx-json.jsonl", weblog.JSON, "status:int,request_time:float,referer"},
	{"nginx-request.jsonl", weblog.JSON, "status:int,time:time"},
	{"apache-common.log", weblog.Combined, "protocol,bytes:int"},
	{"apache-combined.log", weblog.Combined, "method,request"},
	{"apache-vhost.log", weblog.Combined, "host,client"},
	{"apache-combinedio.log", weblog.Combined, "referer"},
	{"apache-semicomplete.log", weblog.Combined, "status:int"},
	{"caddy.jsonl", weblog.JSON, "status:int,duration:float,request.headers.Referer.0,request.tls.resumed:bool"},
	{"iis-w3c.log", weblog.W3C, "status:int,time:time"},
	{"cloudfront.log", weblog.CloudFront, "status:int,x-edge-result-type,referer,time:time"},
	{"elb.log", weblog.ALB, "status:int,target_processing_time:float,method,client,ssl_protocol"},
	{"alb.log", weblog.ALB, "status:int,target_processing_time:float,method,trace_id"},
	{"nginx-proxy-manager.log", weblog.NPM, "host,client,status:int,bytes:int,method"},
	{"squid.log", weblog.Squid, "client,status:int,bytes:int,method,result"},
	{"s3.log", weblog.S3, "client,status:int,bytes:int,host,operation,referer"},
	{"envoy.log", weblog.Envoy, "x_forwarded_for,status:int,bytes:int,host,method"},
	{"istio.log", weblog.Envoy, "x_forwarded_for,status:int,bytes:int,host,route_name"},
	{"squid-combined.log", weblog.Combined, "client,status:int,bytes:int,referer"},
	{"varnish.log", weblog.Combined, "client,status:int,bytes:int,referer"},
	{"ingress-nginx.log", weblog.Combined, "client,status:int,bytes:int,referer"},
	{"traefik.log", weblog.Combined, "client,status:int,bytes:int,referer"},
	{"heroku.log", weblog.Logfmt, "client,status:int,bytes:int,host,dyno,time:time"},
	{"ltsv.log", weblog.LTSV, "client,status:int,bytes:int,host,referer"},
	{"haproxy.log", weblog.HAProxy, "client,status:int,bytes:int,backend,queues_and_headers"},
	{"cloudflare.jsonl", weblog.JSON, "status:int,RayID,time:time"},
	{"table.csv", weblog.CSV, "Status Code:int,Title 1,Score:float"},
	{"table.tsv", weblog.TSV, "status:int,checked_at:time"},
	{"semicolons.csv", weblog.CSV, "ua"},
	{"index.cdxj", weblog.CDXJ, "status:int,mime,time:time"},
}

var kinds = map[string]engine.KeptKind{"int": engine.KeptInt, "time": engine.KeptTime, "float": engine.KeptFloat, "bool": engine.KeptBool}

// sampleOptions reads all fields of a sample.
func sampleOptions(format weblog.Format, keep string) LogOptions {
	opt := LogOptions{Format: format, Raws: true, Fields: weblog.Options{Base: "https://www.example.com", Agents: true, Times: true}}
	for _, k := range strings.Split(keep, ",") {
		name, kind, _ := strings.Cut(k, ":")
		opt.Keep = append(opt.Keep, KeptColumn{Field: name, Kind: kinds[kind]})
	}
	return opt
}

// TestFormats detects the format of every sample and compares the rows with the golden file next to it, for several
// batch sizes.
func TestFormats(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "formats", s.name)
			got := describeLog(t, path, sampleOptions(weblog.Auto, s.keep), s.format)
			for _, rows := range []int{1, 3} {
				opt := sampleOptions(s.format, s.keep)
				opt.BatchRows = rows
				if again := describeLog(t, path, opt, s.format); again != got {
					t.Errorf("batches of %d rows say something else:\n%s", rows, again)
				}
			}
			golden := path + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != got {
				t.Errorf("%v; got\n%s", err, got)
			}
		})
	}
}

// describeLog returns all rows and rejected lines of a log as text. It checks that each has the bytes of the log at its
// offset, and that no line is missing.
func describeLog(t *testing.T, path string, opt LogOptions, want weblog.Format) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := OpenLogs([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var sb strings.Builder
	for b := (engine.Batch{}); l.Next(&b); {
		describeBatch(t, &sb, &b, text)
	}
	if l.Err() != nil {
		t.Fatal(l.Err())
	}
	if got := l.Inputs()[0].Format; got != want {
		t.Fatalf("detected %s, want %s", got, want)
	}
	fmt.Fprintf(&sb, "headers %d, empty %d, refused %v, odd %v\n", l.Counts().Headers, l.Counts().Empty, l.Counts().Refused, l.Counts().Odd)
	return sb.String()
}

// describeBatch appends the rows and rejected lines in the order of the log.
func describeBatch(t *testing.T, sb *strings.Builder, b *engine.Batch, text []byte) {
	t.Helper()
	raw := func(span engine.Span, offset int64) []byte {
		line := b.Piece(span)
		if string(text[offset:offset+int64(len(line))]) != string(line) {
			t.Errorf("%q is not at %d", line, offset)
		}
		return line
	}
	rejects := b.Rejects
	for i := 0; i <= b.Len(); i++ {
		for len(rejects) > 0 && (i == b.Len() || rejects[0].Line < b.Lines[i]) {
			fmt.Fprintf(sb, "%d refused %s %q\n", rejects[0].Line, rejects[0].Reason, raw(rejects[0].Raw, rejects[0].Offset))
			rejects = rejects[1:]
		}
		if i < b.Len() {
			raw(b.Raws[i], b.Offsets[i])
			describeRow(sb, b, i)
		}
	}
}

func describeRow(sb *strings.Builder, b *engine.Batch, i int) {
	moment := "-"
	if b.Times[i] != math.MinInt64 {
		moment = time.UnixMicro(b.Times[i]).UTC().Format(time.RFC3339Nano)
	}
	fmt.Fprintf(sb, "%d %q\n\t%s %q", b.Lines[i], b.URL(i), moment, b.Piece(b.UserAgents[i]))
	for _, k := range b.Kept {
		switch {
		case !k.Present[i]:
			sb.WriteString(" null")
		case k.Kind == engine.KeptText:
			fmt.Fprintf(sb, " %q", b.Piece(k.Texts[i]))
		case k.Kind == engine.KeptFloat:
			fmt.Fprintf(sb, " %v", k.Floats[i])
		case k.Kind == engine.KeptTime:
			sb.WriteString(" " + time.UnixMicro(k.Ints[i]).UTC().Format(time.RFC3339Nano))
		default:
			fmt.Fprintf(sb, " %d", k.Ints[i])
		}
	}
	sb.WriteByte('\n')
}
