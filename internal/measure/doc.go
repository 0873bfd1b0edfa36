// Package measure takes the time and memory of whole jobs, in this process or in one of its own,
// and prints them in the format of Go's benchmarks, which benchstat reads.
//
// Machines are shared, so compared cases run in turn: [Rounds] runs each [Case] once a round
// and prints a line for each, and the many lines of one name are its samples. Look at processor
// time first: it is the cost of work, whoever else is on the machine. [Job] makes the cases of a run
// of the command: parse, build, read, run.
//
// Commands and bench import it.
package measure
