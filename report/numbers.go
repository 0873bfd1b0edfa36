package report

// numbers are those of things that have a key of bytes. What comes often comes many times in turn, so the last
// key that was found is looked at first.
type numbers struct {
	ids     map[string]int32
	key     []byte // that is looked for
	last    int32  // that was found
	lastKey []byte // its key; nil if there is none
}

func newNumbers() numbers { return numbers{ids: map[string]int32{}} }

// find returns the number of what has the key; -1 if it is new: then set gives it one.
func (n *numbers) find() int32 {
	if n.lastKey != nil && string(n.lastKey) == string(n.key) {
		return n.last
	}
	id, known := n.ids[string(n.key)]
	if !known {
		return -1
	}
	n.last, n.lastKey = id, append(n.lastKey[:0], n.key...)
	return id
}

// set gives what has the key a number.
func (n *numbers) set(id int32) { n.ids[string(n.key)] = id }
