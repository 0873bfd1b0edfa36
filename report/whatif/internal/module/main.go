//go:build js && wasm

// The module decides the requests of a log in the page of a report, in WebAssembly. `make wasm` builds
// it. It gives the page one object, robobatchWhatIf, whose functions pass whole texts and lists at once:
//
//	open(dialect, agents, log, text)  reads a log and the text in force, and returns "" or what is wrong
//	edit(text, agent, most)           decides all by a text, and returns the change as JSON
//	explain(text, url, agent, origin) answers for one URL, as JSON
//	lines(agent)                      returns what the last text decided for each URL of a crawler
package main

import (
	"encoding/binary"
	"strings"
	"syscall/js"

	"github.com/robobatch/robobatch/report/whatif/internal/decide"
	"github.com/robobatch/robobatch/robots"
)

// A page is what the page has opened.
type page struct {
	dialect robots.Dialect
	agents  []string
	log     *decide.Log
	inForce *decide.Text
	edited  *decide.Text // the last one
}

func main() {
	p := &page{}
	js.Global().Set("robobatchWhatIf", js.ValueOf(map[string]any{
		"open": function(func(args []js.Value) any {
			agents := strings.Split(args[1].String(), "\n")
			return p.open(robots.Dialect(args[0].Int()), agents, bytesOf(args[2]), bytesOf(args[3]))
		}),
		"edit": function(func(args []js.Value) any { return p.edit(bytesOf(args[0]), args[1].Int(), args[2].Int()) }),
		"explain": function(func(args []js.Value) any {
			return p.explain(bytesOf(args[0]), args[1].String(), args[2].String(), args[3].String())
		}),
		"lines": function(func(args []js.Value) any { return p.lines(args[0].Int()) }),
	}))
	select {} // the functions are called from here on
}

// function makes a Go function one of JavaScript.
func function(f func(args []js.Value) any) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })
}

// bytesOf copies a Uint8Array.
func bytesOf(array js.Value) []byte {
	b := make([]byte, array.Length())
	js.CopyBytesToGo(b, array)
	return b
}

// open reads the log of an origin.
func (p *page) open(d robots.Dialect, agents []string, log, text []byte) string {
	l, err := decide.ReadLog(log, d, agents)
	if err != nil {
		return err.Error()
	}
	inForce, err := l.Decide(text, nil)
	if err != nil {
		return err.Error()
	}
	*p = page{d, agents, l, inForce, inForce}
	return ""
}

// edit decides the log by a text. It lists at most so many URLs that are closed, and that are opened.
func (p *page) edit(text []byte, agent, most int) string {
	t, err := p.log.Decide(text, p.edited)
	if err != nil {
		return decide.ErrorJSON(err)
	}
	p.edited = t
	return string(p.log.AppendJSON(nil, t, p.log.Compare(p.inForce, t, agent), most))
}

// lines returns four bytes for each URL of a crawler: the line that decided it, less than 0 if it
// disallows, 0 if none did.
func (p *page) lines(agent int) js.Value {
	var b []byte
	for _, line := range p.edited.Deciding(agent) {
		b = binary.LittleEndian.AppendUint32(b, uint32(line))
	}
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// explain answers for one URL and crawler.
func (p *page) explain(text []byte, url, agent, origin string) string {
	return string(decide.AppendExplanation(nil, decide.Question{
		Body: text, URL: url, Agent: agent, Origin: robots.Origin(origin), Dialect: p.dialect,
	}))
}
