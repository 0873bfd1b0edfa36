// Package guardpage gives tests of assembly memory with a page on either side that cannot be read,
// so that each read beyond a slice ends the test.
//
// Only tests import it.
package guardpage
