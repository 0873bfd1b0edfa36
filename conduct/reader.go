package conduct

// A reader receives the events of a log by origin: first the origin, then its crawlers, in the order of their names,
// each with its events in order of time. Its arguments are valid until it returns.
type reader interface {
	origin(o *origin) error
	begin(agent string) error
	event(e *event) error
	end(c *counts) error // of the crawler
}

// eventsOnly passes on events, and nothing else.
type eventsOnly struct{ reader }

func (eventsOnly) origin(*origin) error { return nil }
func (eventsOnly) begin(string) error   { return nil }
func (eventsOnly) end(*counts) error    { return nil }
