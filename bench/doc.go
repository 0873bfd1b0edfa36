// Package bench measures robobatch on real and on made-up rules and logs.
//
// The benchmarks are in its tests; run them with make bench BENCHPKGS=./bench. README.md says what each of them
// measures, how to compare two versions, and what they gave on one machine. The package itself holds what they run on:
// a [Corpus] is a collection of real robots.txt and logs, a [RuleSet] is made up to a shape.
package bench
