package robots

import "time"

// A Response is the outcome of one fetch of a robots.txt. [History] computes their combined effect.
type Response struct {
	Origin    Origin        // normalised; whose robots.txt this is, or the origin of URL
	URL       string        // the URL fetched, if not the robots.txt of Origin: the target of a redirect; "" is that robots.txt
	Name      string        // where it was read, for messages: a file's path
	Status    int           // HTTP status; 0 is a network failure; 200 for a body that was read from a file
	Error     string        // why the fetch failed; if not empty it is a network failure, whatever Status
	Location  string        // the target of a redirect, as in the header Location: absolute, or relative to the fetched URL
	FetchedAt time.Time     // when; the zero Time is unknown, and then earlier than all others
	File      bool          // it is in a file, and FetchedAt is when that was last changed; see [History.Periods]
	HasMaxAge bool          // the response says how long a copy may be used:
	MaxAge    time.Duration // so long, by "Cache-Control: max-age"
	Body      []byte        // content, maybe not all that is larger than any dialect reads; owned by the receiver
	Size      int64         // bytes of the whole content; 0 means len(Body)
}
