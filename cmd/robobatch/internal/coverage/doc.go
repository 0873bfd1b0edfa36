// Package coverage counts what the rules of robots.txt do to the requests of a log: which requests
// each rule decides, which it matches while another rule decides, and which rules match none. It hides
// how all rules that match a path are found, and how the counts stay small: requests on which the
// same rules match, and the same one decides, are counted together. Only cmd/robobatch imports it.
package coverage
