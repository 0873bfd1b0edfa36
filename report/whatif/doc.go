// Package whatif makes the panel of a report in which one edits a robots.txt and sees the changes.
//
// [New] takes the most requested URLs of some origins, the robots.txt that is in force there, and the
// crawlers, and returns the parts of the panel: HTML, style and scripts, which a page puts together. In
// the page, the project's own parser and automaton decide all URLs again at each keystroke, as
// WebAssembly. The page makes no request: module and data are in it, packed.
//
// The package hides the module, its data, and how both get into a page. module.wasm is committed, as
// `go install` generates nothing; `make wasm` builds it, and CI compares. It is committed unpacked: git
// then stores a change of it in some 170 kB, and in 1.08 MB if it is packed (eleven versions: 2.8 MB and
// 9.7 MB). The program is 2.8 MB larger for it, and its archives are not. A module of Go that is fetched
// would need a release for each change of the rules. The package knows neither flags nor
// aggregates: report fills in the data.
//
// Commands import it.
//
// # Why so
//
// The panel "What if" of a report decides the most requested URLs of an origin again at each
// keystroke. It does so by robots and automaton, compiled to WebAssembly: a second parser in
// JavaScript would be a second truth. report/whatif/internal/decide compiles the rules that bind
// each crawler as engine/internal/rules does, without packs, periods and columns. Tests compare
// its verdicts with those of the engine: in Go, and in Chromium those of the module itself.
//
//   - One call for all. The log is in the module's memory, its paths in normal form. A keystroke
//     passes the text in, and the changes out, as JSON of at most 200 URLs a list. Crawlers
//     that the same groups bind share a verdict of a URL; a crawler whose rules are the same as
//     before keeps its verdicts. So it is for preferences, which have automata of their own.
//   - Small. The module takes 1.5 MB in ascii85; it was 2.14 in base64. The large parts, in gzip:
//     net/http, imported for two constants, 546 kB; the tables of IDNA 110 (the tag noidna: the
//     browser converts hosts beyond ASCII). Preferences take 67, with the library that parses
//     them; the rest of our code takes 240, Go's runtime 540.
//   - Data are packed as well. 50,000 real URLs of 43 bytes, sorted, each as the bytes that
//     differ from the one before, and gzip: 1 MB in ascii85, with the counts of six crawlers.
//   - The page makes no request, and its policy allows no script but those whose hashes it
//     names, and WebAssembly. So there is no worker, which would need a URL; the module runs in
//     the page's own thread, in slices of 40 ms, so that the page shows what is typed while it
//     decides.
//   - Bytes stay bytes. A robots.txt that is not UTF-8 goes into the editor with a lone
//     surrogate for each odd byte, and comes out as it was. The text in force is decided as it
//     is, not as the editor's.
//
// A keystroke with 200 rules and 50,000 URLs took 16 to 20 ms in Chromium until it was painted,
// in the median, 120 at most, and with 548 rules 22 (cd e2e && go test ./page -run TestTimes -v,
// two idle cores). So nothing cleverer was done, such as to decide only by the rules that an
// edit touched. Rules that are made to be slow, 500 KiB of /*a*b*c, take seconds.
//
// Looked at, and left: fmt costs 107 kB in gzip, but diagnostics are written by it. wasm-opt of
// Binaryen 132 takes 15 s of CPU and saves 1 %. TinyGo is another compiler and runtime, whose
// verdicts would have to be proved again.
package whatif
