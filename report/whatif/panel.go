package whatif

import (
	_ "embed" // the parts of the panel
	"fmt"
	"html/template"
	"strings"
	"sync"
)

// A Panel holds the parts of the panel, which a page combines. A panel that is left out has neither scripts nor data.
type Panel struct {
	// HTML returns a section with the heading "What if" and the id "what-if". It has at most about room bytes, unless
	// the data then have less than minBytes.
	HTML    func(room int) (template.HTML, error)
	Style   string   // goes into a style element
	Scripts []string // contents of script elements after HTML, in this order, one each
}

// style applies only to elements of the panel. The page must define the colours: --text, --quiet, --panel, --head,
// --accent, --allow, --deny; and the font --mono.
//
//go:embed panel.css
var style string

//go:embed panel.js
var script string

//go:embed wasm_exec.js
var runtime string

//go:embed panel.html
var page string

// module is the program that evaluates requests in the page; `make wasm` builds it.
//
//go:embed module.wasm
var module []byte

// packedModule returns the module in the form in which a page embeds it. Compressing it takes about 55 ms.
var packedModule = sync.OnceValues(func() (string, error) { return packText(module) })

// panel is the template of the section.
var panel = sync.OnceValue(func() *template.Template { return template.Must(template.New("what-if").Parse(page)) })

// New returns the panel for the data, which it does not change.
func New(d Data) Panel {
	p := Panel{Style: style, HTML: d.html}
	if d.LeftOut == "" && len(d.Origins) > 0 {
		p.Scripts = []string{runtime, script}
	}
	return p
}

// html returns the section.
func (d Data) html(room int) (template.HTML, error) {
	if d.LeftOut == "" && len(d.Origins) == 0 {
		d.LeftOut = "The text of robots.txt is not known for the URLs of this report."
	}
	fill := struct {
		Data                  // whose parts the template has
		Many           bool   // origins
		Bytes          bool   // of answers are known
		Unit           string // of the numbers of URLs and lines
		Packed, Module string // of packText
	}{Data: d, Many: len(d.Origins) > 1, Unit: "Requests", Bytes: d.hasBytes()}
	if d.Several {
		fill.Unit = "Verdicts"
	}
	if d.LeftOut == "" {
		var err error
		if fill.Module, err = packedModule(); err != nil {
			return "", err
		}
		if fill.Packed, err = d.encode(max(minBytes, room-len(fill.Module)-len(page))); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	if err := panel().Execute(&b, fill); err != nil {
		return "", fmt.Errorf("write the panel: %w", err)
	}
	return template.HTML(b.String()), nil
}
