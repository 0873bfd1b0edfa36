// Package aggregate counts the decisions of runs: requests and distinct URLs by any key, and the most
// requested examples of each. It is for sinks over evaluated batches.
//
// All numbers are exact: [Requests] and [URLs] write rows to disk when memory is full. Nothing here is safe for
// concurrent use. A sink is called in one goroutine, in the order of the input, so all numbers and examples are the
// same for any number of workers.
//
// The package works on verdicts. It does not depend on flags, and its names and texts are not shown to users. It
// imports engine; only commands import it.
//
// # How it counts
//
// Distinct URLs are pairs of group and URL in one hash table, with 24 bytes each. When the table is full, it is
// sorted by hash and written to disk; these runs are merged at the end. The URLs of a family of paths, and of an
// origin, are also URLs of the rules to blame. So each pair names these groups, too, and they take no extra memory.
// The alternatives were estimates, by a sample of the pairs or HyperLogLog, which would need an error margin for
// each number.
//
// To count the effects of rules (aggregate.Rules, for coverage and reports), all rules that match a path are
// needed, but the automaton stops when no other rule can win. So the sink has a second matcher. Its anchors are
// sorted, and each refers to the longest anchor that is a prefix of it, so that one search and a chain of parents
// find all anchors of a path. A set of bits says which bytes the floating segments need. Coverage uses this matcher
// for URLs that are not among the last 16,384; a report uses it at the end, for each URL. The results are stored as
// outcomes: the rule that decides and the rules that match. In real logs, a file has few outcomes, so requests,
// URLs and times are counted by outcome, and added up by rule at the end. Rules that matched nothing take no
// memory: the report reads them from the store.
//
// The engine finds the busiest rules and origins for the summary in row order, so that the result is the same for
// any number of workers. Up to 262,144 sites have an exact count of 8 bytes each. Rules, other origins and further
// sites are counted 32,768 at a time (Misra and Gries). On 30,000 origins in random order, this makes runs 1 to 4 %
// slower (BenchmarkScattered). When sites were counted in such a table, too, with 56 bytes per row from the workers
// to the writer instead of 24, it was 6 to 12 %.
package aggregate
