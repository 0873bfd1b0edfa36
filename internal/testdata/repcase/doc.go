// Package repcase loads the conformance cases of testdata/rep and runs them against a matcher, for
// the tests of robots and engine: one set of cases, every matcher.
//
// There are two kinds. The txtar files hold a few dozen cases for people to read, each citing the
// rule it shows; [RunTexts] explains their format. The JSON Lines files hold thousands, transcribed
// from specifications and from the tests of other parsers; [Row] is one of them, and [Plan] says
// this project's expectation of it in each dialect.
//
// Only tests import it.
package repcase
