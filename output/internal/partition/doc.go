// Package partition writes a table as a directory in the layout of Hive: a file for each partition.
//
// It hides the names of directories, the marker that lists the content of an output, and the steps
// that put partitions into an output that is there, so that a crash loses nothing. Package
// output imports it.
package partition
