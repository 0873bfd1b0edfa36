// Package sitemap reads sitemaps as defined by sitemaps.org, and holds millions of their URLs in little memory.
// Packages engine, ingest and report may import it. It imports only robots, and opens no files.
//
// A [Reader] returns the URLs of one sitemap as they are written, in XML, RSS, Atom or a text with one URL per
// line. It reads a stream, and takes at most a few megabytes, whatever the text. XML is parsed by encoding/xml. The
// Reader requests raw tokens, so that encoding/xml keeps no stack of its own, and its source limits the size of a
// token. Only the predefined entities of XML are expanded.
//
// A [Set] has a 128-bit hash for each normalised URL, so it takes 24 bytes per URL. The probability that any of n
// URLs of the set and m URLs of a log have the same hash is n·m/2¹²⁸: 3·10⁻²³ for ten million and a billion. Hashes
// have a secret seed, so that URLs with the same hash cannot be constructed. Origins are compared exactly.
//
// URLs are normalised as for matching rules: the origin by [robots.AppendOrigin], and the path with its query by
// [robots.Dialect.Path]. So these do not matter: the case of a host, its default port, a fragment, lower-case
// digits in an escape, and whether a space or a non-ASCII character is escaped. These do matter: http or https, a
// www., a slash at the end, the order of parameters.
package sitemap
