//go:build js && wasm

// The module evaluates the requests of a log in the page of a report, in WebAssembly. `make wasm` builds
// it. It gives the page one object, robobatchWhatIf, whose functions pass whole texts and lists at once:
//
//	open(dialect, agents, log, text)  reads a log, and returns "" or an error message
//	edit(text)                        begins to evaluate the log with a text
//	step()                            continues for some milliseconds, and returns whether the evaluation is complete
//	change(agent, most)               returns the changes caused by the last completely evaluated text, as JSON
//	lines(agent)                      returns the line of that text that decided each URL of a crawler
//	explain(text, url, agent, origin) explains the verdict for one URL, as JSON
//
// A text of 500 KiB can take seconds, so each call does only a part of the work. Nothing can import a command.
package main

import (
	"encoding/binary"
	"iter"
	"strings"
	"syscall/js"
	"time"

	"github.com/robobatch/robobatch/report/whatif/internal/decide"
	"github.com/robobatch/robobatch/robots"
)

// A page is the state of the page's panel.
type page struct {
	dialect robots.Dialect
	agents  []string
	log     *decide.Log
	text    []byte       // that in force
	inForce *decide.Text // nil until it is decided
	edited  *decide.Text // the last one that is decided
	err     error        // of the text that was begun last

	next func() (struct{}, bool) // continues with it
	stop func()
}

// slice is the duration of one step. The page cannot show typed text during a step.
const slice = 40 * time.Millisecond

func main() {
	p := &page{}
	js.Global().Set("robobatchWhatIf", js.ValueOf(map[string]any{
		"open": function(func(args []js.Value) any {
			agents := strings.Split(args[1].String(), "\n")
			return p.open(robots.Dialect(args[0].Int()), agents, bytesOf(args[2]), bytesOf(args[3]))
		}),
		"edit":   function(func(args []js.Value) any { p.edit(bytesOf(args[0])); return nil }),
		"step":   function(func([]js.Value) any { return p.step() }),
		"change": function(func(args []js.Value) any { return p.change(args[0].Int(), args[1].Int()) }),
		"explain": function(func(args []js.Value) any {
			return p.explain(bytesOf(args[0]), args[1].String(), args[2].String(), args[3].String())
		}),
		"lines": function(func(args []js.Value) any { return p.lines(args[0].Int()) }),
	}))
	select {} // the functions are called from here on
}

// function converts a Go function into a JavaScript function.
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
	if p.stop != nil {
		p.stop()
	}
	*p = page{dialect: d, agents: agents, log: l, text: text}
	return ""
}

// edit starts evaluating the log with a new text.
func (p *page) edit(text []byte) {
	if p.stop != nil {
		p.stop()
	}
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		begun := time.Now()
		p.err = p.decide(text, func() bool {
			if time.Since(begun) < slice {
				return true
			}
			goOn := yield(struct{}{})
			begun = time.Now()
			return goOn
		})
	})
}

// decide evaluates the log with the text in force, unless that is done, and then with another text.
func (p *page) decide(text []byte, goOn func() bool) (err error) {
	if p.inForce == nil {
		if p.inForce, err = p.log.Decide(p.text, nil, goOn); err != nil {
			return err
		}
		p.edited = p.inForce
	}
	t, err := p.log.Decide(text, p.edited, goOn)
	if err == nil {
		p.edited = t
	}
	return err
}

// step continues the evaluation for one slice, and reports whether it is complete.
func (p *page) step() bool {
	_, more := p.next()
	return !more
}

// change returns the changes caused by the text, with at most the given number of closed and opened URLs.
func (p *page) change(agent, most int) string {
	if p.err != nil {
		return decide.ErrorJSON(p.err)
	}
	return string(p.log.AppendJSON(nil, p.edited, p.log.Compare(p.inForce, p.edited, agent), most))
}

// lines returns four bytes for each URL of a crawler, the number of the line that decided it: negative if the line
// disallows, 0 if no line decided.
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
