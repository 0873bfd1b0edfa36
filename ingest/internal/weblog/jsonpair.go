package weblog

// A pairScanner reads objects of a key and a value, as in the arrays of BigQuery. Example from the export of Google
// Analytics: {"key": "page_location", "value": {"string_value": "https://a.example/"}}.
type pairScanner struct{ jsonScanner }

// PairKey is the member of a pair with its key.
const PairKey = "key"

// PairValues returns the members of a pair that may hold its value. The first that a pair has counts.
func PairValues() []string {
	return []string{"value.string_value", "value.int_value", "value.float_value", "value.double_value", "value"}
}

// newPairScanner returns a pairScanner, whose first slot is the key. It looks for no pairs in a value, which could
// be as many levels of them as a line has.
func newPairScanner() *pairScanner {
	p := &pairScanner{}
	for _, path := range append([]string{PairKey, "name"}, PairValues()...) {
		p.want(path)
	}
	p.root.member("value").keyed = false
	return p
}

// read returns the key and the value of an object, which must be valid; nil for one that is missing. A name beside a
// value is a key, too, as in lists of headers.
func (p *pairScanner) read(object []byte) (key, value []byte) {
	if !p.scan(object) || p.nested[0] {
		return nil, nil
	}
	for slot, v := range p.values[2:] {
		if v != nil && !p.nested[2+slot] {
			value = v
			break
		}
	}
	if key = p.values[0]; key == nil && value != nil && !p.nested[1] {
		key = p.values[1]
	}
	return key, value
}

// pair stores the value of an element of an array, if it has a key that node wants.
func (s *jsonScanner) pair(node *jsonNode, element []byte) {
	if s.pairs == nil {
		s.pairs = newPairScanner()
	}
	key, value := s.pairs.read(element)
	if key == nil {
		return
	}
	if child := s.child(node, key, false); child != nil && value != nil {
		begin := len(s.buf)
		s.buf = append(s.buf, value...) // the next pair overwrites texts that had escapes
		s.store(child, s.buf[begin:len(s.buf):len(s.buf)], false)
	}
}
