package ingest

import (
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
)

// TestNoteHeaders counts headers of tables in lists of URLs: at the start, at the end, and between short lines.
func TestNoteHeaders(t *testing.T) {
	const http, https = "http://a.example/url,id", "https://a.example/url,id"
	for text, want := range map[string]int64{
		"url,id":                             1, // the shortest header, with nothing after it
		"url,id\n" + http:                    1,
		http + "\nurl,id\n/url,id\n" + https: 1,
		https + "\n\nurl,id\t\n\nurl;status": 2,
		"url,i/d\nurl,id:\n/":                0,
		"url,\n//a\nu,i\n" + http:            0,
		"url,a/":                             0,
		strings.Repeat("url,id\n", 5):        5,
	} {
		b := &engine.Batch{Data: []byte(text)}
		for at := 0; at < len(text); {
			line, _, _ := strings.Cut(text[at:], "\n")
			b.URLs, b.Lines = append(b.URLs, engine.Span{Off: uint32(at), Len: uint32(len(line))}), append(b.Lines, int64(len(b.Lines)+1))
			at += len(line) + 1
		}
		r := rowReader{}
		if r.noteHeaders(b); r.odd.Headed != want {
			t.Errorf("%q has %d headers, at %v, want %d", text, r.odd.Headed, r.odd.FirstHeaded, want)
		}
	}
}
