// Package automaton matches a path against all rules of a robots.txt group at once.
//
// [Compile] compiles the patterns into one automaton. [Automaton.Match] returns the [Rank] of the rule that
// decides, in one pass over the path. Compile turns precedence (the longest pattern, Allow on a tie, the first
// line) into ranks, so that matching only looks for the highest rank that matches. Package robots has the protocol,
// and the slow reference implementation that this package is tested against.
//
// # Form
//
// A pattern consists of an anchor, with which the path begins, and floating segments, one after each "*"; see
// [Pattern]. The size of the tables is linear in the text of the patterns. A DFA would be larger: the rules of
// apple.com or ebay.com, about twenty patterns like /*_a*/shop/, would have more than 60,000 states. Instead the
// automaton has these parts:
//
//   - The anchors form a radix trie. Its nodes hold the ranks of the patterns that end there. Most rules are only a
//     prefix and need nothing else.
//   - Patterns with floating segments that share an anchor are found by fingerprints of three bytes, at 32
//     positions of a path at once (Teddy). Only patterns whose fingerprints occur in the path are tried. If there
//     are many patterns, an index also requires that the path contains keys of a few more bytes.
//   - If there are more than 640 such patterns, or very long ones, or more than 24 with the same key, package
//     onepass finds all patterns in one pass. No known real file needs this.
//
// The trie, fingerprints and indexes are implemented in assembly for amd64 with AVX2, and in Go for all other
// processors. Both implementations read the same tables and return the same results.
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
// and /core/a.css?q=1 passes the node of "/", whose pattern is kept for later, and the node of "/core/", which
// gives rank 2. There, ".css" is not at the end, and ".js" does not occur. "?q=" is not tried, because rank 1 is
// lower than rank 2.
//
// # Cost
//
// If all patterns together have n bytes, and the path has p bytes:
//
//   - Compile takes O(n) time plus sorting. Tables take O(n) memory: about 1.3 bytes per byte of real rules.
//   - Match takes O(p) for the trie, and up to 640 searches of the path for floating segments. A segment of over 63
//     bytes counts as nine searches, and a pattern of over 63 bytes counts one more for each eight segments.
//   - With package onepass, Match takes O(p·(∛n + √n/64) + n). A pattern makes at most one move per segment, about
//     4 ns each, and none if its rarest segment (the one that the fewest patterns have) does not occur in the path.
//     3,333 rules like /*/word*word take 0.1 µs for a path of 22 bytes.
//
// For a robots.txt of 500 KiB and a path of 2 KiB, there are at most 250,000 moves, which take 0.9 ms. This happens
// if all segments have one letter and the path contains nearly all of them in order. Trying one pattern after the
// other takes up to 4.0 ms (make hostile).
//
// Matching stops when no higher rank is possible.
//
// The package is independent of the protocol. Only engine, its package rules, internal/preference and
// report/whatif/internal/decide import it, which depguard enforces.
//
// # Design
//
// Fingerprints, for patterns with *. A path is searched once for all patterns together. The fingerprint of a
// pattern is the rarest three consecutive bytes of one of its segments. Up to twelve patterns with the same prefix
// form a group, and are sorted by fingerprint into eight buckets. For each of the three bytes, two tables of 16
// entries say which buckets have a fingerprint with these lower four bits, and with these upper four bits. A vector
// instruction looks up 32 bytes in such a table at once, so six of them find the possible buckets at 32 positions
// of a path (Teddy, by Geoffrey Langdale, in Hyperscan). A group costs about 6 ns per path. Then the patterns whose
// buckets were found are tried, by descending rank.
//
//   - A zero byte stands for the end of the path, in the path and in a pattern with an end anchor.
//   - A pattern also requires all other buckets that its own text has, so few are tried without success.
//   - A single pattern needs no tables (96 bytes): the path is compared with its fingerprint.
//   - Trying a pattern is a search for three bytes of each segment, also at 32 positions at once.
//   - The path may end at any byte. Its last 32 bytes are read as one block, so no byte after the path is read. A
//     shorter path is loaded into a register in pieces.
//
// An index, for more than 24 patterns with the same prefix. All of them share the tables of one group, so a bucket
// has many patterns, and only says which few positions of a path need a closer look. At these, two keys are looked
// up in a bit filter: five bytes that begin with the fingerprint, and four that end with it. The last eight bytes
// of the path are a key, too. Each pattern is filed under one key. It also has 64 bits for other bytes that the
// path must contain, around its other fingerprints and after each /; a pattern is tried only if the path has all of
// them. automaton/index.go chooses fingerprints so that those in a bucket share a rare byte, such as the = of
// queries, or otherwise add few positions. The keys of two blocks are looked up in one loop without branches,
// because the end of a loop cannot be predicted and costs more than a key.
//
// Fingerprints and the index replaced two older methods: a search for the rarest byte of each pattern and, for more
// than 24 patterns with the same prefix, keys around delimiters from a list. For the real files with more than 24,
// matching takes 0.25× the time, for the slowest of them 0.05× to 0.3×, and for none more than 1.0×.
//
// Assembly and Go. internal/asm, a separate module, generates the assembly for amd64 with AVX2. All other
// processors run the Go implementation in automaton/group.go and table.walkGeneric. Both read the same tables, so
// packs are the same everywhere. Tests compare the two on paths between unreadable pages, in every length and
// alignment, and with fuzzing. The trie is in assembly as well: the same steps with fewer branches take 0.6× to
// 0.8× the time. Paths of fewer than eight bytes always use the Go implementation.
//
// Children in a range. A node with more than eight children whose labels are close together has an offset for each
// byte of the range: finding the next node takes one load, instead of a call that searches the labels. Few nodes
// are so large. Such tables for all nodes would take 1.75 bytes per byte of rule text instead of 1.29, and save 8
// ns of the 48 ns that the trie takes.
//
// The remaining time. On the real log, a match visits 1.8 nodes of the trie, finds fingerprints in one path of a
// hundred, and takes 16 ns: 2 ns for the surrounding loop, 10 ns for the trie. In random order it takes 27 ns, and
// over all files of the collection 48 ns, because processors cannot predict the branches of rules that they have
// not seen recently. Prefetching the next cache lines of the table changes nothing.
//
// Compiling is fast. Half of all real files have less than 1 KB and twenty rules, so fixed costs matter. For the
// median file, parsing and compiling take 1.86× as long as parsing. Working memory is reused: only the table and
// the order of the rules are new. While it is sorted for the trie, a rule is an entry of 24 bytes without a
// pointer, compared by the first eight bytes of its prefix. Then the length of the common beginning of each pair of
// neighbours is computed once, and the trie is written from these numbers; text is only copied. One file in six has
// floating segments, and only these patterns are parsed in full. Working memory on the stack, which must be cleared
// for each file, made compiling a quarter slower, and working memory on the heap a fifth.
package automaton
