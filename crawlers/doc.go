// Package crawlers knows the crawlers of the web: the product token that each uses to look for its group
// in robots.txt, its name in the User-Agent header, and its operator's documentation of
// its habits.
//
// The table is data, crawlers.tsv, with a source for each row. It serves three questions: which
// crawlers are meant by a set such as "search" or "ai" ([Set]), which habits has the crawler of a
// product token ([Lookup]), and which crawler sent a User-Agent header ([Identify]). A header is
// the client's own claim: nothing here tells an impostor.
//
// It hides the table. Any package may import it; it imports none of this module.
package crawlers
