// Package examples uses the library as another program does: from another module, by the import
// paths that it offers. Its tests are the examples; read those.
//
//	one_test.go   decide one URL by one robots.txt, and read the rule that won, its line and the reason
//	many_test.go  decide many URLs by a directory of robots.txt or by a pack, and write a table
package examples
