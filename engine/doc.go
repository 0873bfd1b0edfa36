// Package engine decides the URLs of a log.
//
// A [Store] holds the rules of every origin, compiled: [BuildStore] makes it from robots.txt responses, each distinct
// text compiled once, in parallel. Where the outcome of a fetch decides in place of rules, as that of an unreachable
// server does, the site has a Ruleset without rules, whose verdict is the same for every URL. [Run] then takes the rows of a [Source] through it to a [Sink]:
//
//	Source ── Batch ──> reader ──┬── worker: Evaluator ──┬──> writer ── Batch ──> Sink
//	  ^                          └── worker: Evaluator ──┘                          │
//	  └─────────────────────────────── empty Batches <──────────────────────────────┘
//
// With one worker, one goroutine does all of it in turn. Otherwise a Batch of some thousand rows is what moves: there is no channel operation, lock or allocation per row. The number of
// batches is fixed, so memory is bounded whatever the speed of either end. Workers finish in any order; the writer waits
// for each batch in the order in which the source yielded it, so what the sink sees does not depend on their number.
//
// [WritePack] compiles responses into a file instead, for any agent and moment, and [OpenPack] makes a Store of it that loads
// what it meets. What can go wrong then goes wrong during the run: see [Store.Err].
//
// The protocol is that of package robots and the matching that of package automaton; this package is the only one that
// joins them. The rules of precedence are folded into the automaton while compiling, so a row costs: find the site by its
// URL's origin, put the path in normal form, one match per agent.
package engine
