// Package report writes the counts of a run as one self-contained HTML page: it needs no network, server or other file.
// Its readers need only a browser.
//
// A [Counter] is an [engine.Sink] that counts during the run. Counter.Settle ends counting. [Write] makes the page from
// the counter and from a [Run], which holds everything else that the page shows.
//
// The package guarantees:
//
//   - The same input gives the same bytes for any number of workers: rows are counted in order, and
//     all times on the page come from the log.
//   - Memory is bounded for any log, and numbers are exact: requests that do not fit go to a temporary
//     file. If there is no memory for another robots.txt, the page says how many requests are not counted by rule.
//   - URLs, User-Agents and rules are untrusted. html/template escapes them, so they never become
//     markup or script. The page's own policy allows only its own scripts and styles, by hash, and
//     blocks every request.
//   - All numbers, tables and bars work without JavaScript.
//
// The page begins with findings that need action. Counter.Diagnose makes them with package diagnose, from the
// counts of the panels. A panel is a section of the page that counts rows, ends its count and fills in its part of the view;
// panels.go lists them in the order of the page.
//
// The package does not depend on flags. It imports engine, robots, crawlers, aggregate, and its internal packages, one
// for each panel with its own counts; commands import it.
//
// # How it counts
//
// robobatch report is a run whose sinks are a [Counter] and, with -old, the counts of diff. Rows are grouped by URL and
// by kind. A kind consists of the rules in force, the crawler, and the verdicts with the rules that decide. A row of a
// known group costs a hash, a look-up and some additions. Groups that do not fit into memory are written as sorted runs
// to a temporary file next to the page. At the end, each URL is visited once, next to other URLs with the same path:
// all rules that match it are found, its path is counted, and it is offered to the lists of the most requested URLs.
// All numbers are therefore exact, and a path is complete when the next one begins.
//
// On 3.3 million URLs that occur once each, sorting takes a fifth of the time, and merging and visiting take half.
//
// The page finds each robots.txt by the key of the text that decided (Store.TextKey). It reads the rules once more
// to get their texts; from a directory, it reads only the files named after the origins. Every text that was in force is therefore
// available.
//
// Readers must not trust the page, because anyone may have written its URLs and rules. html/template escapes texts by
// their context. The policy of the page permits only the scripts and styles whose hashes it lists, and no requests. So
// there are no style attributes and no event handlers: bars are SVG, whose attributes are not styles. The script only
// adds to the page.
//
// html/template increases the size of the program. It calls methods by name, so the linker keeps every exported method
// of each type reachable from a value in an interface: 4.3 of the program's 25.0 MB, mostly in libraries for Parquet,
// Arrow and object storage. Before internal/s3 hid the client of its library (client.go), it was 5.8 of 26.5 MB. The
// size is worth it, because contextual escaping is hard to write correctly. Other large parts are 1.0 MB of
// WebAssembly, and 1.4 MB of JSON code that Arrow's library links but never calls.
package report
