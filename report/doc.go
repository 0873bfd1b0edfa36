// Package report writes what a run found as one HTML page, which needs nothing besides itself: no
// network, no server, no other file. People who have no terminal open it.
//
// A [Counter] is an [engine.Sink] that counts while the run goes on. [Write] makes the page of what
// it counted, and of what the command knows besides: a [Run].
//
// What the package guarantees:
//
//   - The same input gives the same bytes, whatever the workers: rows are counted in their order, and
//     the page has no moment but those of the log.
//   - Memory is bounded, whatever the log. Numbers are exact, or they are marked, with how wrong they
//     may be.
//   - URLs, User-Agents and rules are written by anyone. They become text by html/template, and never
//     markup or script. The page's own policy forbids every script and style but its own, by hash, and
//     every request.
//   - Without JavaScript all numbers, tables and bars are there.
//
// The package knows verdicts and counts, and no flag. It imports engine, robots, crawlers and
// aggregate; commands import it.
package report
