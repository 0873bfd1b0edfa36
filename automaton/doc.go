// Package automaton decides a path by all rules of a robots.txt group at once.
//
// [Compile] makes one automaton of the patterns; [Automaton.Match] returns the [Rank] of the rule
// that decides, in one pass over the path. Precedence (the longest pattern, allow on a tie, the
// first line) is folded into the ranks while compiling, so that matching knows nothing of it: the
// highest rank that matches wins. Package robots has the protocol, and the slow reference that this
// one is tested against.
//
// # Form
//
// A pattern is an anchor, with which the path begins, and floating segments, one behind each "*"; see
// [Pattern]. Nothing is determinised beyond a size linear in the text: the rules of apple.com or
// ebay.com, some twenty patterns like /*_a*/shop/, have more than 60,000 states as a DFA. Instead the
// automaton has these parts:
//
//   - The anchors are a radix trie. Its nodes hold the ranks of the patterns that end there. Most
//     rules are only a prefix, and need no more.
//   - Patterns with floating segments that share an anchor are found by fingerprints, three bytes
//     each, 32 places of a path at once (Teddy). Only those are tried whose fingerprints the path
//     has, and if they are many, also keys of some bytes more, by which an index finds them.
//   - Where there are more than 640 such patterns, or very long ones, package onepass finds them all
//     in one pass. No real file is known that has so many.
//
// The trie, fingerprints and indexes have assembly for amd64 with AVX2, and a twin in Go for all
// other processors. Both read the same tables and answer alike.
//
// The rules
//
//	Disallow: /core/          rank 2
//	Allow:    /core/*.css$    rank 4
//	Allow:    /core/*.js      rank 3
//	Disallow: /*?q=           rank 1
//
// become
//
//	(root) ─"/"─▶ (floating: "?q=" → 1) ─"core/"─▶ (prefix → 2; floating: ".css" at the end → 4, ".js" → 3)
//
// and /core/a.css?q=1 passes the node of "/", whose pattern waits, and the node of "/core/", which
// gives rank 2. There ".css" is not at the end, and ".js" does not occur. At last "?q=" is not tried,
// as rank 1 cannot beat 2.
//
// # Cost
//
// With n the bytes of all patterns, and p those of the path:
//
//   - Compile takes O(n) and sorting; tables are O(n): about 1.3 bytes per byte of real rules.
//   - Match takes O(p) for the trie, and for floating segments that are tried up to 640 searches of
//     the path. A segment of over 63 bytes counts as nine, and a pattern of over 63 bytes as one more
//     for each eight segments.
//   - With package onepass it takes O(p·(1 + √n/64) + n): each segment of each pattern moves it on once
//     at most, in some 5 ns, and the segments that the path lacks cost nothing.
//
// For a robots.txt of 500 KiB and a path of 2 KiB, these are at most 250,000 moves, if all segments
// have one letter and the path has nearly all of them in order.
//
// Matching stops where no rank above the best one can follow.
package automaton
