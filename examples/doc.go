// Package examples uses the library from another module, through its public import
// paths. Its tests are the examples.
//
//	one_test.go   decide one URL with one robots.txt, and read the deciding rule, its line and the reason
//	many_test.go  decide many URLs with a directory of robots.txt files or a pack, and write a table
package examples
