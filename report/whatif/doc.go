// Package whatif makes the panel of a report in which one edits a robots.txt and sees what changes.
//
// [New] takes the most requested URLs of some origins, the robots.txt that is in force there, and the
// crawlers, and returns the parts of the panel: HTML, style and scripts, which a page puts together. In
// the page, the project's own parser and automaton decide all URLs again at each keystroke, as
// WebAssembly. The page makes no request: module and data are in it, packed.
//
// The package hides the module, its data, and how both get into a page. module.wasm.gz is committed, as
// `go install` generates nothing; `make wasm` builds it, and CI compares. It knows no flags and no
// aggregates: report fills in the data.
package whatif
