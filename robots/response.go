package robots

// A Response is what is known of the robots.txt of one origin: the outcome of one fetch.
type Response struct {
	Origin Origin // normalised; whose robots.txt this is
	Name   string // where it was read, for messages: a file's path
	Body   []byte // content; owned by the receiver
}
