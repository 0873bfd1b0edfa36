// Package aggregate counts what runs decide: requests and distinct URLs by any key, and the most
// requested examples of each. It is for sinks over evaluated batches.
//
// Numbers of requests are exact. [Requests] count distinct URLs exactly as well, on disk where memory is full.
// [URLs] and [Distinct] count them exactly while they fit in their memory, and beyond it they estimate them, with
// an error: see [Estimate]. Nothing here is for concurrent
// use: a sink is called in one goroutine, in the order of the input, so all numbers and examples
// are the same whatever the number of workers.
//
// The package knows verdicts. It knows no flag, prints nothing, and names nothing that a user sees.
// It imports engine; commands import it, and nothing else does.
//
// # How it counts
//
// The sinks see what the engine decided, in the order of the input,
// in one goroutine, so that their numbers do not depend on the workers. Requests are counted
// exactly. Distinct URLs are pairs of group and URL in one set of hashes. While the set fits, it
// is exact; then it keeps the pairs whose hash ends in a zero bit, then in two. So it is an even
// sample that depends on the pairs alone, and each group has an estimate and its error from it.
// 256 MiB are exact for 6 million pairs, and estimate 100 million within 0.1 %. Sketches were
// the other way: HyperLogLog takes 16 KiB a group for 0.8 %, and there may be a group for each
// rule, family of paths and origin; the set takes nothing for groups without URLs, and has the
// requests of each URL, so the most requested come from it as well.
//
// What rules did (aggregate.Rules, for coverage and reports) needs all that match a path, and
// the automaton stops where no other can win. So a sink matches once more, by a matcher of its
// own: anchors sorted, each with the longest anchor before it that it begins with, so that one
// search and a chain of parents give all of them; and one bit for each byte that the floating
// segments need. Coverage asks it where a URL is not among the 16,384 met lately, a report for
// each URL at its end. What it finds is kept as outcomes: the rule that decides and
// those that match. Real logs have few outcomes a file, so requests, URLs and times are counted
// by outcome, and added up by rule at the end. Rules that nothing matched take no memory: they
// come from the store when the report is made. In coverage their distinct URLs are in a set of 8 bytes a
// hash ([Distinct]), which says only whether one is new.
//
// The engine finds the busiest rules and origins for the summary in row order, so that it is the
// same whatever the workers. A site has a count of 8 bytes, up to 262,144 of them; rules, other
// origins and more sites are counted 32,768 at a time (Misra and Gries). With a table of these
// for sites too, and 56 bytes a row from the workers to the writer in place of 24, runs on
// 30,000 origins in random order took 6 to 12 % longer than without any of it; now 1 to 4 %
// (BenchmarkScattered).
package aggregate
