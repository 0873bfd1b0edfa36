// Package report writes the counts of a run as one HTML page, which needs nothing besides itself: no
// network, no server, no other file. People who have no terminal open it.
//
// A [Counter] is an [engine.Sink] that counts while the run goes on. Counter.Settle ends the count. [Write] makes
// the page from the counter and from a [Run]: all else that the command knows.
//
// The package guarantees:
//
//   - The same input gives the same bytes, whatever the workers: rows are counted in their order, and
//     the page has no moment but those of the log.
//   - Memory is bounded, whatever the log, and numbers are exact: requests that do not fit go to a temporary
//     file. Where there is no memory for another robots.txt, the page says how many requests are not counted by rule.
//   - URLs, User-Agents and rules are written by anyone. They become text by html/template, and never
//     markup or script. The page's own policy forbids every script and style but its own, by hash, and
//     every request.
//   - Without JavaScript all numbers, tables and bars are there.
//
// The page begins with findings, on which somebody should act: Counter.Diagnose makes them from package diagnose, and panels give it what
// they counted. A panel is a section of the page that counts rows, ends its count and fills in its part of the view; panels.go lists them in
// the order of the page.
//
// The package knows verdicts and counts, and no flag. It imports engine, robots, crawlers,
// aggregate, and below it a package for each panel that counts for itself; commands import it.
//
// # How it counts
//
// robobatch report is a run whose sinks are a [Counter] and, with -old, the counts of diff. Rows are
// grouped by URL and by kind: what is in force, the crawler, and the verdicts with the rules that decide.
// A row whose group is known is a hash, a look-up and some additions. Groups that do not fit into memory
// go as sorted runs to a temporary file beside the page. At the end each URL is visited once, with those of
// its path beside it: then all rules that match it are found, its path is counted, and it is offered to
// the lists of the most requested. So all numbers are exact, and a path is complete when the next begins.
//
// On 3.3 million URLs that come once each, sorting takes a fifth of the time, and merging and visiting a half.
//
// A robots.txt of the page is found by the key of the text that decided (Store.TextKey), in one
// more reading of the rules, of a directory only those files that are named for its origins. So
// each text that was in force is there, whatever the moment.
//
// The page is one file that its readers do not trust, as anyone may have written its URLs and
// rules. html/template writes texts by their place; the policy of the page permits the scripts
// and styles whose hashes it has, and no request. So there is no style attribute and no handler:
// bars are SVG, whose attributes are no styles. The script only adds to the page.
//
// html/template has its price. It calls methods by their names, so the linker keeps every
// exported method of a type that a value in an interface leads to: 4.3 of the program's 25.0 MB,
// most of it in libraries for Parquet, Arrow and object stores. It was 5.8 of 26.5 MB before
// internal/s3 kept the client of its library out of sight (client.go). We pay it, as escaping by
// place is not a thing to write again. Other large parts are 1.0 MB of WebAssembly, and 1.4 MB of
// JSON that Arrow's library asks for and nothing calls.
package report
