// Package report writes what a run found as one HTML page, which needs nothing besides itself: no
// network, no server, no other file. People who have no terminal open it.
//
// A [Counter] is an [engine.Sink] that counts while the run goes on. Counter.Settle ends the count. [Write] makes
// the page from the counter and from a [Run]: all else that the command knows.
//
// What the package guarantees:
//
//   - The same input gives the same bytes, whatever the workers: rows are counted in their order, and
//     the page has no moment but those of the log.
//   - Memory is bounded, whatever the log, and numbers are exact: requests that do not fit go to a temporary
//     file. Distinct URLs of [Run].Changes alone may be estimates, which are marked. Where there is no memory for
//     another robots.txt, the page says how many requests are not counted by rule.
//   - URLs, User-Agents and rules are written by anyone. They become text by html/template, and never
//     markup or script. The page's own policy forbids every script and style but its own, by hash, and
//     every request.
//   - Without JavaScript all numbers, tables and bars are there.
//
// The package knows verdicts and counts, and no flag. It imports engine, robots, crawlers and
// aggregate; commands import it.
//
// # How it counts
//
// robobatch report is a run whose sinks are a report.Counter and, with -old, the counts of diff.
// The counter keeps a table of requests: rows of the same URL, crawler and verdict are one
// entry, so a row that was met before is a hash, a look-up and some additions. What takes longer
// is done once for each entry, when it comes or leaves: all rules that match it, the walk
// through the tree of paths, the numbers of distinct URLs. When the table is full the entries
// with the fewest rows leave it; what is in it may then have been there before, and carries how
// often at most, as with Misra and Gries. From then on a URL comes in with the second of two
// rows that are near each other, or if it is in an even sample: otherwise logs whose URLs come
// once each, or one after the other in circles, would push all through the table.
//
// The rows of the others belong to a kind: what is in force, the crawler, and the verdicts with
// the rules that decide. There are few kinds, and what follows from them alone is exact for each
// row: requests by rule, crawler and origin, violations, answers. What does not (paths, the
// rules that match without deciding, distinct URLs) cost some 250 ns a URL, as much as all else
// of a run, while a page shows 600 paths. So after half a million such rows a sample is looked
// at: all rows of a kind up to 2,048, and then half, a quarter and so on of those that follow,
// so that about a sixteenth is looked at in all. A small kind stays exact beside a large one;
// one rate for all would have lost rare rules. The numbers of URLs in all and by crawler need no
// more than a hash, so they have larger samples. What is looked at counts for as many as its
// rate leaves out (Horvitz and Thompson), and the sampled rows of each kind and origin are
// counted, so that estimates are scaled to them; rows from before a sample began stand for
// themselves. A path may lack a row that was not looked at, so its error is at least the
// greatest weight at its origin: of origins without a sample, none. URLs that come often are in
// the table and count as they are: in a sample without the table a URL that has a third of the
// log would be there eightfold, or not at all. Rows are chosen by the hash of the URL and of how
// often the table forgot what it saw of late, so that those of one URL are chosen independently,
// and the variance is the sum of what each adds; chosen by the URL alone, 88 of 599 paths of a
// log were beyond twice their error, and now it is 2. The error of a share is that of a ratio of
// two estimates from one sample (report/shares.go). Distinct URLs need a sample by the URL
// alone, so there are two. A report on 3.7 million URLs, each once, took 2.2 times the CPU of a
// run of all columns, and takes 1.2; in random order 1.2, and 0.75.
//
// Most of what is left is waits for memory; so rows and entries are looked up many at a time,
// and slots have bits of the hash beside the index, so that what is not there is seldom looked
// at. Rows of a log in random order are collected, 16,384 at most, and added up by site
// (report/order.go): 2,561 origins took 1.7 times a run, and take 1.4. A path counts at its last
// node, and the tree is summed at the end. Rows come in the order of the input, and the page has
// no moment of its own: its bytes depend on input and flags alone.
//
// A robots.txt of the page is found by the key of the text that decided (Store.TextKey), in one
// more reading of the rules, of a directory only those files that are named for its origins. So
// each text that was in force is there, whatever the moment.
//
// The page is one file that its readers do not trust, as anyone may have written its URLs and
// rules. html/template writes texts by their place; the policy of the page permits the scripts
// and styles whose hashes it has, and no request. So there is no style attribute and no handler:
// bars are SVG, whose attributes are no styles. The script only adds to what is there.
//
// html/template has its price. It calls methods by their names, so the linker keeps every
// exported method of a type that a value in an interface leads to: 4.3 of the program's 25.0 MB,
// most of it in libraries for Parquet, Arrow and object stores. It was 5.8 of 26.5 MB before
// internal/s3 kept the client of its library out of sight (client.go). We pay it, as escaping by
// place is not a thing to write again. What else is large: 1.0 MB of WebAssembly, and 1.4 MB of
// JSON that Arrow's library asks for and nothing calls.
package report
