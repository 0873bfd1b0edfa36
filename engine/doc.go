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
// The moving unit is a [Batch] of some thousand rows: there is no channel operation, lock or allocation
// for a single row. The number of batches is fixed, so memory is bounded however fast either end
// is. Workers finish in any order, but the writer waits for the batches in the order of the source.
// So the sink sees the same rows in the same order, whatever the number of workers. With one
// worker, one goroutine reads, decides and writes.
//
// A row costs three steps: find the site of its URL, put its path in normal form, match the path
// for each agent. Where the outcome of a fetch decides instead of rules, as for a server that
// cannot be reached, the site has a rule set without rules and with one verdict for every URL.
//
// The package hides how URLs find their site ([Evaluator]), the data in memory, and how batches
// flow. Its own packages internal/rules and internal/packed hide compiled rules and packs. Ingest
// implements Source, output implements Sink, and both import this package; it imports neither.
//
// # Why so
//
// Before the first URL is read, robobatch parses and compiles all robots.txt, in parallel, and each distinct text once.
// (Of the 2,561 real files that we measure on, 14 % have the text of another one.) It keeps only deciding data: tables
// without pointers, and line and text of the rules in force. Rules from files stay in memory during the run.
//
// Four system calls read a file of a directory. Package os makes nine; with it, loading 30,000
// files took a tenth longer.
//
// Rules and URLs meet by origin, after normalisation; nothing else is ever treated as the same
// site. A worker finds the site of a URL in four steps, and stops at the first that succeeds:
//
//  1. Scheme and authority, as written, repeat the row before. Nearly all logs have many
//     rows of one host in a row.
//  2. They are among the 4,096 that the worker met last, as written, one cache line each. In
//     random order, too, most URLs have one of few hosts: evaluating takes 0.6 to 0.7 of the
//     time.
//  3. The text as written is the origin of a site. Nearly all URLs have their origin in normal
//     form, so nobody need make it: 0.8 to 0.94 of evaluating over 30,000 origins.
//  4. The origin is normalised and looked up.
//
// Most crawlers are bound by the groups for *. Agents that the same groups of a file bind get one rule set, and a URL
// is matched once for each distinct rule set. A small index for each text says which agent has which. Rows of such
// agents are a streak, and the encodings of the writer take a streak at once. Ten agents cost 2.0 times one, for a run
// without url (bench, Agents). Compiling for all 95 crawlers of the table takes 1.5 times the CPU time of * alone, so
// -agent-from-log compiles for all of them. A crawler that only a robots.txt names has a number after theirs, which is
// valid only for that text; its rules are compiled when a row needs them.
//
//   - Most paths are in normal form as written. 32 bytes at once are looked up in two tables of
//     16 entries, by the lower and the upper four bits of a byte: so one pass, of any form,
//     gives the first byte that is an escape, must become one, or begins a fragment
//     (robots/path.go, with assembly and its twin as in the automaton). Only from there on are
//     bytes looked at one by one. Against eight bytes at a time by arithmetic, which also
//     stopped at each &, evaluating takes 0.84 to 0.88 of the time where hosts are grouped, and
//     0.92 in random order.
//   - A row may lead others. The trie is left at the first byte that no rule has, and then only
//     patterns with wildcards can still match. Where there are none, the bytes before decide
//     (Automaton.Reads), and a row of the same rules whose path begins so has the verdicts of
//     the row that was matched: its path is neither brought into normal form nor matched
//     (engine/lead.go). That is half of the rows where hosts are grouped: evaluating takes 0.84
//     of the time, a run without url 0.88 to 0.92, and 0.95 in random order. With made-up rules,
//     where few rows are led, evaluating may take a few hundredths more, as now and then a row
//     is asked in vain.
//   - Rows are matched in the order of sites where sites change often. A counting sort of the
//     batch fetches rules once for all rows of a site; verdicts are written by row. If a site
//     has four rows on end, the batch is taken as it lies. One array of pointers leads to the
//     rule set that all agents of a site share, which is mostly all there is: a row then waits
//     for memory once, not four times, 0.87 of a run in random order.
//   - A verdict is a number: site and rule. The writer looks at texts once for each dictionary.
//     Strings that repeat are numbered, never hashed row by row. The table of numbered rules is
//     bounded and may drop entries; the dictionary of texts gives the same number again.
//   - A streak is gathered and counted once. Where hosts are grouped, rows of one origin and
//     verdict come 200 on end. In a chunk that has one row for each URL and becomes pages at
//     once, a streak is one value: 6 ns a row instead of 17. Where streaks are short, and for
//     other uses of a chunk, the same columns have a value for each row. The choice changes no
//     byte.
//   - Captures are resolved once. All captures of an origin give one outcome at one moment
//     (robots.History), rules or a fixed verdict. The hot path knows nothing of them.
//
// A run may compare two stores (Options.Old). Each worker decides its batch by the new rules, and then finds the old
// ones' rulings for the same rows (engine/compare.go). Where both stores have the same text, by its key of 16 bytes, or
// the same outcome, it copies the verdicts: a site whose robots.txt did not change costs a second look-up, and no
// match. The result of the old store is a batch of its own that shares the columns of the first, so look-ups, filters
// and columns work on either. The worker also compares: closed, opened, another rule by its text, not by its line, or
// the same. So the sink only counts, and only rows that changed. Rows that did not change for anyone are one addition
// for all agents. A rule is to blame by its line in its text, so one that 100 origins share is one. The changed rows
// are an output like any other: a filter, and four columns more. Without a log, a source of paths takes its place
// (internal/witness), and nothing else is different.
package engine
