// Package conduct reports which rules crawlers knew when they made the requests that these forbid: whether they
// had asked for robots.txt, which text they got, and how old their copy was.
//
// A [Journal] is a sink over the batches of a run. It counts the requests of each crawler at each origin, and keeps
// the times of those that matter: answers to requests of /robots.txt, requests that the text in force forbids, and,
// where a text has a Crawl-delay, all others. At the end [Journal.Judge] reads them in order of time, and hands a [Row]
// for each crawler and origin to its caller, in order of origins and crawlers.
//
// All numbers are exact, and the same whatever the order of the rows, the number of workers and the memory.
//
// # How it keeps them
//
// A crawler at an origin, a pair, has counts and a series of events, one to three bytes for most: the difference of its
// time to the time of the event before. When memory is full, the pairs are sorted by name and written to disk with their
// series, each in order of time; at the end these runs are merged. Logs are nearly in order of time, so nearly all
// series need no sort, and the pieces of a series follow one another.
//
// A request is judged by one pass over the series of its pair: the last answer before it is at hand. It needs two facts
// from outside, and both stand before the series: when anyone first asked the origin for anything, and when each
// crawler first had an answer to /robots.txt, since crawlers of one operator share copies.
//
// Ten million rows of 10,000 origins and 20 crawlers take 27 s of CPU under 256 MiB, and 31 s if each origin has a
// Crawl-delay, at a peak of 259 MiB. The same rows written without their URLs take 23 (bench/generate -crawlers 20).
//
// The package knows verdicts and crawlers. It does not know flags, and prints nothing. Only the command and the report import it.
package conduct
