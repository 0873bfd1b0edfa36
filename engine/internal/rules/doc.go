// Package rules compiles robots.txt and keeps the results: it hides how a rule is matched, how what
// is in force is found for each origin and period, and that equal texts share their rules.
//
// A [Set] is what binds one agent at one site. A [Ruling] has the Sets of all agents, and a
// [RulingID] names it. A [Store] finds the site of an origin and its Ruling; [Build] makes the one
// that keeps all rules in memory. Package packed has those that read a pack. Package engine imports
// both, and nothing else does.
package rules
