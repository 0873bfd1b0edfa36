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
// A pattern is an anchor, what the path starts with, and floating segments, what its "*" stand
// before; see [Pattern]. Nothing is determinised beyond what is linear in the text: the rules of
// apple.com or ebay.com, some twenty patterns like /*_a*/shop/, have more than 60,000 states as a
// DFA. Instead the automaton has these parts, all without pointers:
//
//   - The anchors are a radix trie. Its nodes hold the ranks of the patterns that end there. Most
//     rules are only a prefix, and need no more.
//   - Patterns with floating segments that share an anchor are found by fingerprints, three bytes
//     each, 32 places of a path at once (Teddy). Only those are tried whose fingerprints the path
//     has, and if they are many, also keys of some bytes more, by which an index finds them.
//   - Where one path could meet more than 896 of them, an Aho-Corasick automaton finds all floating
//     segments in one pass, and registers remember which sequences of segments have been seen, and
//     where they first ended (an extended finite automaton, XFA: Smith, Estan and Jha, SIGCOMM
//     2008). The earliest end is enough, as a later one can only accept less.
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
// and /core/a.css?q=1 meets, in this order: the node of "/" whose pattern is put off; the node of
// "/core/", best rank 2; there ".css", which is not at the end, and ".js", which does not occur;
// and at last "?q=", which is not tried, as rank 1 cannot beat 2.
//
// # Cost
//
// With n the bytes of all patterns, and p those of the path:
//
//   - Compile takes O(n) and sorting; tables are O(n): about 1.3 bytes per byte of real rules.
//   - Match takes O(p) for the trie, and for floating segments that are tried up to 896 searches of
//     the path. A search for a segment of over 63 bytes counts as nine, and a pattern of over 63
//     bytes as one more for each eight segments.
//   - With the search it takes O(p·(1 + d/64 + log s) + r). r counts the sequences of segments of
//     which the path has all but perhaps the last, each once; s the segments; and d how many end in
//     the same place of the path. d is mostly 0 or 1, and at most the square root of 2n, for a file
//     in which each segment ends the next one. Only segments that can reach something are looked
//     at, 64 at a time. One that cannot waits until what it goes on with has been seen, or does not
//     overlap it any more. Segments that many rules share are waited for in queues, so rules whose
//     first segments do not occur cost nothing. A sequence that goes on in one way only costs 3 to
//     5 ns for each segment.
//
// For a robots.txt of 500 KiB and a path of 2 KiB, r is at most 256,000, if all sequences go on in
// one way only and have segments of one letter; no file is known that takes over 1 ms (AMD EPYC).
//
// Matching stops where no rank above the best one can follow.
package automaton
