package robots

// A Response is what is known of the robots.txt of one origin: the outcome of one fetch.
type Response struct {
	Origin Origin // normalised; whose robots.txt this is
	Name   string // where it was read, for messages: a file's path
	Body   []byte // content, maybe not all that is larger than any dialect reads; owned by the receiver
	Size   int64  // bytes of the whole content; 0 means len(Body)
}
