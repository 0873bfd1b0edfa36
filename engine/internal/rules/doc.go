// Package rules compiles robots.txt and keeps the results: it hides how a rule is matched, how the ruling
// in force is found for each origin and period, and that equal texts share their rules.
//
// A [Set] is one agent's rules at one site. A [Ruling] has the Sets of all agents, and a
// [RulingID] names it. A [Store] finds the site of an origin and its Ruling; [Build] makes the one
// that keeps all rules in memory. Package packed has those that read a pack. Package engine imports
// both, and nothing else does.
//
// # Rules that change
//
// With -as-of log each row has its own moment. Between two moments, the same thing is in force
// for an origin. So all of its captures, redirects and lapses become a short list of periods
// (robots.History.Periods). A row is a search in this list, or one comparison while rows of an
// origin stay in one period. A fixed moment is one period. Each distinct ruling has a RulingID,
// a type of its own: matching, rules and their columns use it; counts and the column origin use
// the site. Periods of one text are one, by the hash or number of the text, so the hash of the
// rules is the same from files and packs.
//
//   - Only when asked for. robobatch could detect a log with times, but then one command would
//     change its answer once a capture got a time.
//   - A file's own time is not evidence. A checkout changes it, and then all earlier rows would
//     have no rules. So it only orders the file among captures.
//   - Rows before all captures are no_robots, as with -as-of and their time. To extend the first
//     capture backwards would accuse by a rule that may be newer than the fetch.
package rules
