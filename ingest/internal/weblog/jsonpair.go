package weblog

// A pairScanner reads key-value objects, as in arrays of BigQuery. Example from the export of Google Analytics: {"key":
// "page_location", "value": {"string_value": "https://a.example/"}}.
type pairScanner struct{ jsonScanner }

// PairKey is the member of a pair that contains its key.
const PairKey = "key"

// PairValues returns the members of a pair that may contain its value. The first one that exists counts.
func PairValues() []string {
	return []string{"value.string_value", "value.int_value", "value.float_value", "value.double_value", "value"}
}

// newPairScanner returns a pairScanner whose first slot is the key. It does not search values for pairs, which could be
// nested as deep as the line is long.
func newPairScanner() *pairScanner {
	p := &pairScanner{}
	for _, path := range append([]string{PairKey, "name"}, PairValues()...) {
		p.want(path)
	}
	p.root.member("value").keyed = false
	return p
}

// read returns the key and the value of a valid object; nil if one is missing. The member name is also a key, as in
// lists of headers.
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

// pair stores the value of an array element, if node wants its key.
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
