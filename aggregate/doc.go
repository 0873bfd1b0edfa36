// Package aggregate counts what runs decide: requests and distinct URLs by any key, and the most
// requested examples of each. It is for sinks over evaluated batches.
//
// Numbers of requests are exact. Distinct URLs are exact while they fit in the memory that a [URLs]
// is given, and estimates beyond it, whose error [Estimate] says. Nothing here is for concurrent
// use: a sink is called in one goroutine, in the order of the input, so all numbers and examples
// are the same whatever the number of workers.
//
// The package knows verdicts. It knows no flag, prints nothing, and names nothing that a user sees.
// It imports engine; commands import it, and nothing else does.
package aggregate
