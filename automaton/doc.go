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
// A pattern is an anchor, the start of the path, and floating segments, one after each "*"; see [Pattern]. Nothing is
// determinised beyond a size linear in the text: the rules of apple.com or ebay.com, some twenty patterns like
// /*_a*/shop/, have more than 60,000 states as a DFA. Instead the automaton has these parts:
//
//   - The anchors are a radix trie. Its nodes hold the ranks of the patterns that end there. Most
//     rules are only a prefix, and need no more.
//   - Patterns with floating segments that share an anchor are found by fingerprints, three bytes
//     each, 32 places of a path at once (Teddy). Only those are tried whose fingerprints the path
//     has, and if they are many, also keys of some bytes more, that let an index find them.
//   - Where there are more than 640 such patterns, or very long ones, or more than 24 that nothing but the rest of
//     their text tells apart from one another, package onepass finds them all in one pass. No real file is known that
//     has so many.
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
// With n the bytes of all patterns, and p the bytes of the path:
//
//   - Compile takes O(n) and sorting; tables are O(n): about 1.3 bytes per byte of real rules.
//   - Match takes O(p) for the trie, and for floating segments that are tried up to 640 searches of
//     the path. A segment of over 63 bytes counts as nine, and a pattern of over 63 bytes as one more
//     for each eight segments.
//   - With package onepass it takes O(p·(∛n + √n/64) + n): a pattern moves at most once for each of its
//     segments, in some 4 ns, and costs nothing where a path lacks the segment of it that the fewest patterns have.
//     3,333 rules like /*/word*word take 0.2 µs for a path of 22 bytes.
//
// For a robots.txt of 500 KiB and a path of 2 KiB, these are at most 250,000 moves, or 0.9 ms, if all
// segments have one letter and the path has nearly all of them in order. One pattern after the other
// takes up to 4.0 ms (make hostile).
//
// Matching stops where no rank above the best one can follow.
//
// The package is independent of the protocol. Only engine, its package rules, and
// report/whatif/internal/decide may import it; depguard holds that.
//
// # Why so
//
// Fingerprints, for patterns with *. A path is searched once for all patterns, not once for each. The fingerprint of a
// pattern is three neighbouring bytes of one of its segments, the three that paths have least. Up to twelve patterns of
// one prefix are a group, sorted by fingerprint into eight buckets. For each of the three bytes, two tables of 16
// entries say which buckets have a fingerprint with such lower four bits, and such upper four bits. A vector
// instruction looks 32 bytes up in such a table at once, so six of them tell for 32 places of a path which buckets may
// be there (Teddy, by Geoffrey Langdale, in Hyperscan). A group costs some 6 ns a path. Code then tries, by descending
// rank, the patterns with buckets that were found.
//
//   - A pattern with an end anchor has a zero byte for the end of the path, and so does the
//     path.
//   - A pattern also needs all other buckets that its own text has, so few are tried in vain.
//   - A single pattern has no tables, 96 bytes, but is compared with its fingerprint.
//   - A pattern is tried by a search for three bytes of each segment, 32 places at once, too.
//   - The path may end at any byte. Its last 32 bytes are one block, so nothing behind it is
//     read; a path of fewer bytes goes into a register in pieces.
//
// An index, where more than 24 patterns share a prefix. It has the tables of one group for all
// of them. So a bucket has many patterns, and only says the few places of a path to look at
// closer. There, a filter of bits is asked for two keys: five bytes that begin with the
// fingerprint, and four that end with it. The last eight bytes of the path are a key, too. Each
// pattern is filed under one key. It also has 64 bits for other needs of a path, the bytes
// ahead of its other places and of each /; only patterns that lack none of these are tried.
// automaton/index.go chooses fingerprints so that a bucket has one rare byte in common,
// such as the = of queries, or else adds little to the contents of buckets. The keys of two blocks are
// looked up in one loop without branches: the end of a loop cannot be predicted, and costs more
// than a key.
//
// Fingerprints and the index took the place of two ways: patterns one by one, by a search for
// the rarest byte of each, and beyond 24 patterns of one prefix by keys around delimiters that
// were chosen from a list. Of the real files with more than 24, matches take 0.25 of the time,
// of the slowest 0.05 to 0.3, and of none more than 1.0.
//
// Assembly, and its twin. internal/asm, a module of its own, writes the assembly for amd64 with
// AVX2. All else, also an older processor, runs the twin in Go, automaton/group.go and
// table.walkGeneric; both read the same tables, so packs are the same everywhere. Tests compare
// the two on paths between pages that cannot be read, in every length and alignment, and under
// fuzzing. The trie is in assembly as well: the same steps with fewer branches take 0.6 to 0.8
// of the time. On paths of fewer than eight bytes the twin decides.
//
// Children in a range. A node with more than eight children, with labels close together, has an
// offset for each byte of the range: the next node is one load away, where a search of the
// labels is a call. Few nodes are so large. Tables for all nodes would take 1.75 bytes per byte
// of rule text instead of 1.29, for 8 ns of the 48 that the trie takes.
//
// The remaining time. On the real log a match visits 1.8 nodes of the trie, finds fingerprints in one
// path of a hundred, and takes 16 ns: two for the loop around it, ten for the trie. In random
// order it takes 27, and over all files of the collection 48, as processors cannot predict
// branches of rules that they have not seen lately; asking for the next lines of the table early
// changes nothing.
//
// Compiled in the time of parsing. Half of all real files have less than 1 KB and twenty rules, so the cost before the
// first byte counts. In the median file, parsing and compiling take 1.86× as long as parsing. Working memory is used
// again. An automaton leaves after its table and the order of the rules, nothing else. On its way into the trie, a rule
// is an entry of 24 bytes without a pointer, sorted by the first eight bytes of its prefix. After that, code finds once
// the shared starts of neighbours, and writes the trie from these numbers; it looks at text only to copy it. One file
// in six has floating segments, and only those patterns are taken apart. Working memory on the stack, which must be
// cleared for each file, made compiling a quarter slower, and on the heap a fifth.
package automaton
