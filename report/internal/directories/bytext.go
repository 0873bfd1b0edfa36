package directories

import "github.com/robobatch/robobatch/engine"

// ByText is requests by the text that was in force. Nil is none.
type ByText []textRequests

// A textRequests is the requests while a text was in force.
type textRequests struct {
	text     engine.RulingID
	requests int64
}

// Add adds requests while a text was in force.
func (b ByText) Add(text engine.RulingID, requests int64) ByText {
	for i := range b {
		if b[i].text == text {
			b[i].requests += requests
			return b
		}
	}
	return append(b, textRequests{text, requests})
}

// Of returns the requests while a text was in force.
func (b ByText) Of(text engine.RulingID) int64 {
	for _, by := range b {
		if by.text == text {
			return by.requests
		}
	}
	return 0
}
