// Package whatif makes the panel of a report in which one edits a robots.txt and sees what changes.
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
// would need a release for each change of the rules. The package knows no flags and no
// aggregates: report fills in the data.
package whatif
