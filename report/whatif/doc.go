// Package whatif creates the panel of a report in which readers edit a robots.txt and see the effects.
//
// [New] takes the most requested URLs of some origins, the robots.txt files in force there, and the crawlers. It
// returns the parts of the panel: HTML, style and scripts, which a page combines. In the page, the project's own
// parser and automata, compiled to WebAssembly, evaluate all URLs again at each keystroke. The page sends no request:
// it contains the module and the data, compressed.
//
// Callers do not depend on the module, on the format of its data, or on how a page embeds them. module.wasm is
// committed, because `go install` cannot generate it; `make wasm` builds it, and CI compares. It is committed
// uncompressed: git then stores a change of it in about 170 kB, instead of 1.08 MB for a compressed module (eleven
// versions: 2.8 MB instead of 9.7 MB). The program is 2.8 MB larger because of it, but its archives are not. A module
// in a repository of its own would need a release for each change of the rules. The package does not depend on flags
// or aggregates: package report fills in the data.
//
// Commands import it.
//
// # Design
//
// A second parser in JavaScript could give other verdicts, so the panel uses packages robots and automaton. Package
// decide compiles the rules that bind each crawler as engine/internal/rules does, but without packs, periods and
// columns. Tests compare its verdicts with those of the engine: in Go, and in Chromium with the module itself.
//
//   - Few calls. The log is in the module's memory, with normalised paths. A keystroke passes the text to the module,
//     and gets the changes as JSON, with lists of at most 200 URLs. Crawlers that are bound by the same groups share
//     their verdicts; a crawler whose rules have not changed keeps its verdicts. The same applies to preferences,
//     which have automata of their own.
//   - Small. The module takes 1.5 MB in ascii85; in base64 it took 2.14 MB. The large parts, compressed with gzip:
//     net/http, imported for two constants, 546 kB; IDNA tables 110 kB (omitted by the tag noidna: the browser converts
//     host names beyond ASCII); preferences and the library that parses them 67 kB; the rest of our code 240 kB; Go's
//     runtime 540 kB.
//   - Compressed data. 50,000 real URLs of 43 bytes are sorted, each is stored as the bytes that differ from the
//     previous one, and all are compressed with gzip: 1 MB in ascii85, with the counts of six crawlers.
//   - No requests. The policy of the page allows only scripts with the hashes that it lists, and WebAssembly. A web
//     worker would need a URL, so the module runs in the main thread, in slices of 40 ms: the page shows typed text
//     while the module evaluates.
//   - Unchanged bytes. If a robots.txt is not UTF-8, each invalid byte becomes a lone surrogate in the editor, and the
//     same byte again when saved. The text in force is evaluated from its own bytes, not from the editor's text.
//
// With 200 rules and 50,000 URLs, a keystroke took 16 to 20 ms in Chromium until it was painted (median; at most 120 ms),
// and 22 ms with 548 rules (cd e2e && go test ./page -run TestTimes -v, two idle cores). So the package does not
// optimise further, for example by evaluating only the rules that an edit touched. Rules that are made to be slow, such
// as 500 KiB of /*a*b*c, take seconds.
//
// Alternatives that did not pay: without fmt the module would be 107 kB smaller (gzip), but robots formats its
// diagnostics with it. wasm-opt of Binaryen 132 takes 15 s of CPU time and saves 1 %. TinyGo is another compiler and
// runtime, whose verdicts would have to be tested as well.
package whatif
