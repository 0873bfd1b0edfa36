package pipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/robobatch/robobatch/engine"
)

// Limits of the rows that are evaluated at once.
const (
	chunkRows  = 8192
	chunkBytes = 2 << 20
)

// maxURL is the maximum length of a URL in bytes. Longer URLs are bad URLs, as in a log.
const maxURL = 64 << 10

// A texts is a column of texts or times in a record batch. Its buffers depend on its type.
type texts struct {
	rows  int
	valid []byte // one bit per row: 0 for null; nil if there are no nulls

	offsets []byte // offsets in data: the begin of the text of each row, and the end of the last one
	data    []byte
	views   []byte   // 16 bytes per row
	further [][]byte // the buffers that views refer to

	moments []byte // times, 8 bytes per row

	numbers []byte // indices into names
	width   int    // bytes of an index or an offset
	names   *dictionary
}

// A dictionary has the texts of a dictionary column.
type dictionary struct {
	data []byte
	ends []int // end of each text in data
	null []bool
}

// A textReader reads a column of texts.
type textReader struct {
	unpacker
	dictionary dictionary
}

// readColumn returns the column at a position, which is valid until the next reset. If numbers is set, the column has
// indices into a dictionary, and the caller sets names. The buffers are checked to be long enough for the rows, but not
// their contents: textAt checks these.
func (c *textReader) readColumn(r *record, u *textField, at position, numbers bool) (t texts, err error) {
	if at.nodes >= len(r.nodes)/16 {
		return t, damagedError("found %d columns, including nested ones, but the schema has more", len(r.nodes)/16)
	}
	length, nulls := int64At(r.nodes, 2*at.nodes), int64At(r.nodes, 2*at.nodes+1)
	if length < 0 || length > 1<<31 {
		return t, damagedError("a column of %d rows", length)
	}
	t.rows = int(length)
	// count returns the number of further buffers of a column of views.
	count := func(view int) int {
		if err == nil && view >= len(r.variadic)/8 {
			err = damagedError("the number of buffers of a column of views is missing")
		}
		if err != nil {
			return 0
		}
		n := int64At(r.variadic, view)
		if n < 0 || n > int64(len(r.buffers)/16) {
			err = damagedError("invalid number of buffers of a column of views: %d", n)
			return 0
		}
		return int(n)
	}
	first := at.buffers
	for view := range at.views {
		first += count(view)
	}
	// need returns an uncompressed buffer of the column, of at least so many bytes.
	need := func(i, bytes int) (b []byte) {
		i += first
		if err == nil && i >= len(r.buffers)/16 {
			err = damagedError("found %d buffers, but the schema needs more", len(r.buffers)/16)
		}
		if err != nil {
			return nil
		}
		offset, length := int64At(r.buffers, 2*i), int64At(r.buffers, 2*i+1)
		if offset < 0 || length < 0 || offset > int64(len(r.body)) || length > int64(len(r.body))-offset {
			err = damagedError("a buffer of %d bytes at offset %d of a body of %d bytes", length, offset, len(r.body))
			return nil
		}
		b, err = c.unpack(r.body[offset:offset+length:offset+length], r.codec)
		if err == nil && len(b) < bytes {
			err = damagedError("found a buffer of %d bytes, but %d rows need %d", len(b), t.rows, bytes)
		}
		return b
	}
	if nulls != 0 && t.rows > 0 {
		t.valid = need(0, (t.rows+7)/8)
	}
	switch {
	case t.rows == 0:
	case numbers:
		t.width = u.width
		t.numbers = need(1, t.rows*t.width)
	case u.kind == typeTimestamp:
		t.moments = need(1, 8*t.rows)
	case u.kind.isView():
		t.views = need(1, 16*t.rows)
		for i := range count(at.views) {
			t.further = append(t.further, need(2+i, 0))
		}
	default:
		t.width = 4
		if u.kind == typeLargeUtf8 || u.kind == typeLargeBinary {
			t.width = 8
		}
		t.offsets, t.data = need(1, (t.rows+1)*t.width), need(2, 0)
	}
	return t, err
}

// addDictionary adds the texts of a dictionary batch to the dictionary of the column, or replaces them unless it is a
// delta. Texts are cut after maxURL+1 bytes.
func (c *textReader) addDictionary(m *message, u *textField) error {
	data, ok := m.table.table(dictionaryData)
	if !ok {
		return damagedError("a dictionary without texts")
	}
	r, err := readRecord(data, m.body)
	if err != nil {
		return err
	}
	t, err := c.readColumn(&r, u, position{}, false)
	if err != nil {
		return err
	}
	d := &c.dictionary
	if m.byte(dictionaryIsDelta) == 0 {
		*d = dictionary{d.data[:0], d.ends[:0], d.null[:0]}
	}
	for i := range t.rows {
		text, null, err := t.textAt(i)
		if err != nil {
			return err
		}
		d.data = append(d.data, text[:min(len(text), maxURL+1)]...) // a URL that is one byte too long is enough to be invalid
		d.ends = append(d.ends, len(d.data))
		d.null = append(d.null, null)
	}
	return nil
}

// textAt returns the text of row i, which is a part of a buffer. null means that there is none. The error is an
// errDamaged.
func (t *texts) textAt(i int) (text []byte, null bool, err error) {
	if t.valid != nil && t.valid[i/8]>>(i%8)&1 == 0 {
		return nil, true, nil
	}
	switch {
	case t.numbers != nil:
		n, d := uintAt(t.numbers, i, t.width), t.names
		if n >= uint64(len(d.ends)) { // true also for a negative index
			return nil, false, damagedError("row %d refers to text %d, but the dictionary has %d", i+1, n, len(d.ends))
		}
		from := 0
		if n > 0 {
			from = d.ends[n-1]
		}
		return d.data[from:d.ends[n]], d.null[n], nil
	case t.views != nil:
		text, err = t.textOfView(t.views[16*i : 16*i+16])
		return text, false, err
	}
	from, to := uintAt(t.offsets, i, t.width), uintAt(t.offsets, i+1, t.width)
	if from > to || to > uint64(len(t.data)) {
		return nil, false, damagedError("row %d of a column extends from byte %d to %d, but there are %d bytes", i+1, from, to, len(t.data))
	}
	return t.data[from:to], false, nil
}

// uintAt returns number i of a list of little-endian numbers, which have width bytes each: 1, 2, 4 or 8.
func uintAt(list []byte, i, width int) uint64 {
	switch b := list[i*width:]; width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}

// textOfView returns the text of a view of 16 bytes. The view itself contains a text of up to twelve bytes.
func (t *texts) textOfView(view []byte) ([]byte, error) {
	size := binary.LittleEndian.Uint32(view)
	if size <= 12 {
		return view[4 : 4+size], nil
	}
	i, from := binary.LittleEndian.Uint32(view[8:]), uint64(binary.LittleEndian.Uint32(view[12:]))
	if uint64(i) >= uint64(len(t.further)) || from+uint64(size) > uint64(len(t.further[i])) {
		return nil, damagedError("a text of %d bytes at offset %d of buffer %d is missing", size, from, i)
	}
	return t.further[i][from : from+uint64(size)], nil
}

// fill adds the URLs of rows to b, beginning with row, up to the limits of a chunk. It returns the row after them. A
// null, empty or too long URL becomes engine.NoURL.
func (t *texts) fill(b *engine.Batch, row int) (int, error) {
	for end := min(t.rows, row+chunkRows); row < end && len(b.Data) < chunkBytes; row++ {
		text, null, err := t.textAt(row)
		if err != nil {
			return row, err
		}
		span := engine.NoURL
		if !null && len(text) > 0 && len(text) <= maxURL {
			span = engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(text))}
			b.Data = append(b.Data, text...)
		}
		b.URLs = append(b.URLs, span)
	}
	return row, nil
}

// ErrAgent is the error of a row without a valid agent. It is wrapped in a [*StreamError].
var ErrAgent = errors.New("no name of a crawler")

// agentNames adds the agents of rows to batches, and checks their names.
type agentNames struct {
	check  func(string) error
	refuse bool             // an invalid name is an error
	known  map[string]error // results of check in the stream
}

// mostNames is the maximum number of names in agentNames.known. When it is reached, the map starts again.
const mostNames = 1 << 14

// fill adds the agents of the rows [from, to) of t to b. An invalid name becomes engine.NoURL, or an error with refuse.
func (n *agentNames) fill(b *engine.Batch, t *texts, from, to int) error {
	last := engine.NoURL // neighbouring rows with the same agent share a text
	for row := from; row < to; row++ {
		text, null, err := t.textAt(row)
		if err != nil {
			return fmt.Errorf("row %d: %w", row+1, err)
		}
		span := last
		if last == engine.NoURL || string(text) != string(b.Piece(last)) {
			switch err := n.checkName(text, null); {
			case err == nil:
				span = addPiece(b, text)
				last = span
			case n.refuse:
				return fmt.Errorf("row %d: %w", row+1, err)
			default:
				span = engine.NoURL
			}
		}
		b.UserAgents = append(b.UserAgents, span)
	}
	return nil
}

// addPiece copies a text to the memory of b.
func addPiece(b *engine.Batch, text []byte) engine.Span {
	at := len(b.Data)
	b.Data = append(b.Data, text...)
	return engine.Span{Off: uint32(at), Len: uint32(len(text))}
}

// checkName returns an error, which wraps ErrAgent, if a name is null, empty, too long or rejected by check. It
// remembers the results of check.
func (n *agentNames) checkName(name []byte, null bool) error {
	if err, known := n.known[string(name)]; known && !null {
		return err
	}
	switch {
	case null:
		return fmt.Errorf("%w: the agent is null: give * for a crawler that no robots.txt names", ErrAgent)
	case len(name) == 0:
		return fmt.Errorf("%w: the agent is empty: give * for a crawler that no robots.txt names", ErrAgent)
	case len(name) > engine.MaxAgentName:
		return fmt.Errorf("%w: the agent has %d bytes; the limit is %d: give its product token, such as Googlebot, or *", ErrAgent, len(name), engine.MaxAgentName)
	}
	var err error
	if n.check != nil {
		if err = n.check(string(name)); err != nil {
			err = fmt.Errorf("%w: %w", ErrAgent, err)
		}
	}
	if n.known == nil || len(n.known) >= mostNames {
		n.known = map[string]error{}
	}
	n.known[string(name)] = err
	return err
}

// fillRequests adds the User-Agents, addresses and times of the rows [from, to) of the record batch to b. A text longer
// than maxURL is treated as absent.
func (s *source) fillRequests(b *engine.Batch, from, to int) error {
	for row := from; row < to; row++ {
		for r := agentRole; r < numRoles; r++ {
			t := &s.texts[r]
			if s.columns[r] == "" {
				continue
			}
			if t.moments != nil {
				b.Times = append(b.Times, t.timeAt(row, s.schema.columns[r].unit))
				continue
			}
			text, _, err := t.textAt(row)
			if len(text) > maxURL {
				text = nil
			}
			switch {
			case err != nil:
			case r == timeRole:
				b.Times = append(b.Times, s.log.Time(text))
			case r == agentRole:
				b.UserAgents = append(b.UserAgents, addPresent(b, s.log.Agent(text)))
			default:
				if text, err = s.log.Client(text); err == nil {
					b.Clients = append(b.Clients, addPresent(b, text))
				}
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", row+1, err)
			}
		}
	}
	return nil
}

// addPresent is like addPiece, but the text may be nil.
func addPresent(b *engine.Batch, text []byte) engine.Span {
	if text == nil {
		return engine.NoURL
	}
	return addPiece(b, text)
}

// timeAt returns the time of row i in microseconds since 1970, rounded down; engine.NoTime if it is null or out of
// range. unit is that of the column, in nanoseconds.
func (t *texts) timeAt(i int, unit int64) int64 {
	if t.valid != nil && t.valid[i/8]>>(i%8)&1 == 0 {
		return engine.NoTime
	}
	n := int64(uintAt(t.moments, i, 8))
	if unit == 1 {
		micro := n / 1000
		if n%1000 < 0 { // before 1970
			micro--
		}
		return micro
	}
	unit /= 1000
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return engine.NoTime
	}
	return n * unit
}
