package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/report/internal/show"
)

// pageFiles are the templates, styles and scripts of the page. uPlot is by Leon Sorokin, MIT licence: page/LICENSE-uplot.
//
//go:embed page
var pageFiles embed.FS

// pageFile returns a part of the page.
func pageFile(name string) string {
	b, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

// functions are the functions that templates use.
var functions = template.FuncMap{
	"num": show.Number, "pct": show.Percent, "txt": show.Text, "whole": show.Whole, "brief": show.Brief, "say": show.Sentence, "dated": show.Dated, "share": show.Share, "plural": show.Plural, "size": show.Size,
	"check": func(code string) string { return checks[code] },
	"sub":   func(a, b int64) int64 { return a - b },
	"first": func(n int, all any) any {
		return reflect.ValueOf(all).Slice(0, min(n, reflect.ValueOf(all).Len())).Interface()
	},
	"beyond": func(n int, all any) int64 { return int64(max(0, reflect.ValueOf(all).Len()-n)) },
	"bar":    func(share float64) string { return show.Coordinate(64 * min(1, share)) },
	"row":    func(page *view, row any) partOf { return partOf{page, row} },
	"json": func(v any) (template.JS, error) {
		b, err := json.Marshal(v)  // which escapes <, > and &
		return template.JS(b), err //nolint:gosec // it is JSON, not for HTML to read
	},
}

// A partOf is a row of a table, and the page that contains it.
type partOf struct {
	Page *view
	Row  any
}

// page returns the template of the page. It is parsed on the first call, because few runs write a page.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(functions).ParseFS(pageFiles, "page/*.html"))
})

// MaxBytes is the approximate maximum size of the page in bytes, if the panels of other packages can shrink to fit.
const MaxBytes = 2_500_000

// Write writes the page. Call Counter.Settle first; the counter must not be used afterwards.
func Write(w io.Writer, c *Counter, run *Run) error {
	v := c.newView(run)
	head := header{title: v.Heading(), about: v.about()}
	head.addStyle(pageFile("uplot.min.css") + "\n" + pageFile("style.css"))
	if v.Time != nil {
		head.addScript("/*! " + strings.TrimSpace(pageFile("LICENSE-uplot")) + " */\n" + pageFile("uplot.min.js"))
	}
	head.addScript(pageFile("report.js"))
	for _, p := range run.Panels {
		head.addStyle(p.CSS)
		for _, s := range p.Scripts {
			head.addScript(s)
		}
		head.wasm = head.wasm || p.Wasm
	}
	body := bytes.NewBufferString(head.open())
	v.Room = func() int { return MaxBytes - body.Len() - len(head.close()) }
	if err := page().Execute(body, v); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	_, err := io.WriteString(w, body.String()+head.close())
	return err
}

// favicon is an icon of a robot's face, embedded as a data URL.
const favicon = `<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect x='1' y='4' width='14' height='11' rx='3' fill='%232b6cc4'/%3E%3Cpath d='M8 4V1M5 8v2M11 8v2' stroke='%23fff' stroke-width='2'/%3E%3Cpath d='M8 4V1' stroke='%232b6cc4' stroke-width='2'/%3E%3C/svg%3E">`

// about returns one sentence that says what the page shows.
func (v *view) about() string {
	text := "Report on robots.txt and " + v.Heading()
	if v.Period != "" {
		text += ", " + v.Period
	}
	text += ": " + show.Plural(v.Requests, "request")
	if n := int64(len(v.Causes)); n > 0 {
		text += ", " + show.Plural(n, "finding")
	}
	return text + "."
}

// A header is the part of the page before its body: title, policy, styles and scripts.
type header struct {
	title, about    string
	styles, scripts []string
	wasm            bool // some script runs WebAssembly
}

func (h *header) addStyle(text string) {
	if text != "" {
		h.styles = append(h.styles, text)
	}
}

func (h *header) addScript(text string) { h.scripts = append(h.scripts, text) }

// policy returns the Content-Security-Policy of the page: it allows its own scripts and styles, by their hashes, and
// nothing else.
func (h *header) policy() string {
	scripts := hashes(h.scripts)
	if h.wasm {
		scripts += " 'wasm-unsafe-eval'"
	}
	return "default-src 'none'; script-src" + scripts + "; style-src" + hashes(h.styles) + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// hashes returns the hashes of texts, in the notation of a Content-Security-Policy.
func hashes(texts []string) string {
	var sb strings.Builder
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		sb.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	}
	return sb.String()
}

// open returns the text before the body.
func (h *header) open() string {
	var sb strings.Builder
	sb.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	sb.WriteString(`<meta http-equiv="Content-Security-Policy" content="` + h.policy() + "\">\n")
	sb.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	sb.WriteString("<title>" + template.HTMLEscapeString(show.Text(h.title)) + ": robots.txt report</title>\n")
	sb.WriteString(`<meta name="description" content="` + template.HTMLEscapeString(show.Text(h.about)) + "\">\n" + favicon + "\n")
	for _, text := range h.styles {
		sb.WriteString("<style>" + text + "</style>\n")
	}
	sb.WriteString("</head>\n")
	return sb.String()
}

// close returns the text behind the body.
func (h *header) close() string {
	var sb strings.Builder
	for _, text := range h.scripts {
		sb.WriteString("<script>" + text + "</script>\n")
	}
	sb.WriteString("</body>\n</html>\n")
	return sb.String()
}
