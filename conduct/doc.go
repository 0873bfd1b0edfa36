// Package conduct reports what crawlers knew when they made disallowed requests: whether they had requested
// robots.txt, which text they received, and how old their copy was.
//
// A [Journal] is a sink over the batches of a run. It counts the requests of each crawler at each origin, and stores
// the times of those that matter: responses to requests for /robots.txt, requests that the text in force disallows,
// and, if a text has a Crawl-delay, all others. At the end, [Journal.Judge] reads them in order of time and passes a
// [Row] for each crawler and origin to its caller, ordered by origin and crawler.
//
// All numbers are exact. They do not depend on the order of the rows, the number of workers or the memory.
//
// # How it keeps them
//
// A pair is a crawler at an origin. It has counts and a series of events. Most events take one to three bytes: the
// difference to the time of the previous event. When memory is full, the pairs are sorted by name and written to disk
// with their series, each in order of time; at the end these runs are merged. Logs are nearly in order of time, so
// nearly all series need no sorting, and their pieces rarely overlap.
//
// One pass over the series of a pair judges its requests by the last response before each. It needs two other facts,
// which are stored before the series: the time of the first request to the origin, and the time of each crawler's
// first response to /robots.txt, because crawlers of one operator share copies.
//
// Ten million rows of 10,000 origins and 20 crawlers take 27 s of CPU under 256 MiB, and 31 s if each origin has a
// Crawl-delay, at a peak of 259 MiB. The same rows written without their URLs take 23 (bench/generate -crawlers 20).
//
// The package depends on verdicts and crawlers, but not on flags, and prints nothing. Only the command and the report
// import it.
package conduct
