package ingest_test

import (
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// TestOptional checks that an optional field that a log lacks is null in each format, and that other fields have their
// values.
func TestOptional(t *testing.T) {
	for name, log := range map[string]string{
		"csv":      "url,method\nhttps://a.example/x,GET\n",
		"tsv":      "url\tmethod\nhttps://a.example/x\tGET\n",
		"w3c":      "#Fields: cs-host cs-uri-stem cs-method\na.example /x GET\n",
		"combined": `192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /x HTTP/1.1" 200 10 "-" "GPTBot/1.0"` + "\n",
		"json":     `{"url":"https://a.example/x","method":"GET"}` + "\n",
		"alb":      `http 2026-10-10T13:55:36.000000Z app/lb/1 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://a.example:80/x HTTP/1.1" "GPTBot/1.0" - -` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			opt := ingest.LogOptions{
				Stdin: strings.NewReader(log), Fields: ingest.Fields{Base: "https://a.example"},
				Keep: []ingest.KeptColumn{{Field: "nothing", Kind: engine.KeptText, Optional: true}, {Field: "method", Kind: engine.KeptText, Optional: true}},
			}
			logs, err := ingest.OpenLogs([]string{"-"}, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer logs.Close()
			var b engine.Batch
			if !logs.Next(&b) || b.Len() != 1 {
				t.Fatalf("%d rows, %v", b.Len(), logs.Err())
			}
			if format := string(logs.Inputs()[0].Format); format != name {
				t.Errorf("it is read as %s", format)
			}
			if b.Kept[0].Present[0] || !b.Kept[1].Present[0] || string(b.Piece(b.Kept[1].Texts[0])) != "GET" {
				t.Errorf("kept %+v", b.Kept)
			}
			opt.Stdin, opt.Keep[0].Optional = strings.NewReader(log), false
			logs, err = ingest.OpenLogs([]string{"-"}, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer logs.Close()
			if is := logs.Next(&b); is != (name == "json") {
				t.Errorf("a field that must be there: %v, %v", is, logs.Err())
			}
		})
	}
}
