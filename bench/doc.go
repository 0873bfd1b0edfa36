// Package bench measures robobatch on real and generated rules and logs. It has only benchmarks in tests, so nothing
// imports it. Run them with make bench BENCHPKGS=./bench. README.md explains what they measure, how to compare two
// versions, and lists results of one machine.
package bench
