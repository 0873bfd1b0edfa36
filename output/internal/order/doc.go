// Package order puts the rows of a table in another order than the input has.
//
// An [Arranger] takes the place of a container. It hides how rows are sorted, in memory and in a
// temporary file, and hands them on to a target. The order depends on the rows alone. A [Splitter]
// spares rows of few partitions that wait. Package output and package partition import it.
package order
