// Package engine decides the URLs of a log.
//
// A [Store] has the compiled rules of every origin. [BuildStore] compiles robots.txt responses and
// keeps all rules in memory. [WritePack] compiles them into a file, for any agent and any moment,
// and [OpenPack] makes a Store of that file, which loads rules when rows need them. [Store.Verdict]
// decides one URL. [Run] takes the rows of a [Source] through a Store to a [Sink]:
//
//	Source ── Batch ──> reader ──┬── worker: Evaluator ──┬──> writer ── Batch ──> Sink
//	  ^                          └── worker: Evaluator ──┘                          │
//	  └─────────────────────────────── empty Batches <──────────────────────────────┘
//
// What moves is a [Batch] of some thousand rows: there is no channel operation, lock or allocation
// for a single row. The number of batches is fixed, so memory is bounded however fast either end
// is. Workers finish in any order, but the writer waits for the batches in the order of the source.
// So the sink sees the same rows in the same order, whatever the number of workers. With one
// worker, one goroutine reads, decides and writes.
//
// A row costs three steps: find the site of its URL, put its path in normal form, match the path
// for each agent. Where the outcome of a fetch decides in place of rules, as for a server that
// cannot be reached, the site has a rule set without rules and with one verdict for every URL.
//
// The package hides how URLs find their site ([Evaluator]), what stays in memory, and how batches
// flow. Its own packages internal/rules and internal/packed hide compiled rules and packs. Ingest
// implements Source, output implements Sink, and both import this package; it imports neither.
package engine
