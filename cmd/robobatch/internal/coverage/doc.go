// Package coverage counts the requests of a log by the rules of robots.txt: the requests that each rule
// decides, those that it matches while another rule decides, and the rules that match none. It hides
// how all rules that match a path are found, and how the counts stay small: requests on which the
// same rules match, and the same one decides, are counted together. Only cmd/robobatch imports it.
package coverage
