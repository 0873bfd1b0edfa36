// Package bench measures robobatch on real and on made-up rules and logs. All of it is benchmarks
// in tests, so nothing imports it; run them with make bench BENCHPKGS=./bench. README.md says which figures
// each of them measures, how to compare two versions, and their results on one machine.
package bench
