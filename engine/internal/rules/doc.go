// Package rules compiles robots.txt and stores the results. It hides how a rule is matched, how the ruling in force
// is found for each origin and period, and that equal texts share their rules.
//
// A [Set] holds one agent's rules at one site. A [Ruling] holds the Sets of all agents, and a [RulingID] identifies
// it. A [Store] finds the site of an origin and its Ruling. [Build] returns a Store that keeps all rules in memory;
// package packed has Stores that read a pack. Only package engine imports both.
//
// # Rules that change
//
// With -as-of log, each row is decided by the rules at its own time. What is in force for an origin changes only at
// a few moments, so its captures, redirects and lapses become a short list of periods (robots.History.Periods).
// Each row needs a search in this list, or one comparison while the rows of an origin stay in one period. A fixed
// moment is one period. Each distinct ruling has a RulingID. Matching, rules and their columns use the RulingID;
// counts and the column origin use the site. Consecutive periods with the same text, by its hash or number, are
// merged, so the hash of the rules is the same for files and packs.
//
//   - The user must request it. robobatch could detect a log with times, but then the result of a command would
//     change as soon as a capture has a time.
//   - A file modification time is not evidence. A checkout changes it, and then all earlier rows would have no
//     rules. So it is used only to order the file among captures.
//   - Rows before the first capture get the reason no_robots, as they would with -as-of and their time. If the
//     first capture applied to them, a crawler could be accused of breaking a rule that is newer than its request.
package rules
