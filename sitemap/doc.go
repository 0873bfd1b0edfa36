// Package sitemap reads sitemaps as defined by sitemaps.org, and holds millions of their URLs in little memory.
// Packages engine, ingest and report may import it. It imports only robots, and opens no files.
//
// A [Reader] gives the URLs of one sitemap as they are written, in XML, RSS, Atom or a text with one URL per line. It reads a
// stream, and takes at most some megabytes, whatever the text. encoding/xml reads XML, whose rules are not a thing to
// write again. It is asked for raw tokens, so it keeps no stack of its own; its source bounds the size of a token. It
// expands no entity but those of XML itself.
//
// A [Set] has a hash of 128 bits for each URL in normal form, so it takes 24 bytes a URL. Two of n URLs of the set
// and m of a log have the same hash with a probability of n·m/2¹²⁸: 3·10⁻²³ for ten million and a billion. Hashes
// have a secret seed, so that no URL can be made that has the hash of another. Origins are compared
// as they are.
//
// The normal form is the one by which rules are matched: the origin as [robots.AppendOrigin] has it, and the path
// with its query as [robots.Dialect.Path] has it. So case and default port of a host do not count, nor a
// fragment, nor lower-case digits of an escape, nor whether a blank or a character beyond ASCII is escaped. These
// count: http and https, a www., a slash at the end, the order of parameters.
package sitemap
