package ingest

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/parquetfile"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/internal/storage"
)

// maxProbed is the number of columns whose values are examined if no column has a known name for a role.
const maxProbed = 256

// A parquetLog reads the rows of a Parquet file. It reads the requested columns, and holds a page of each.
type parquetLog struct {
	file    storage.File
	size    int64 // of file
	reader  *parquetfile.File
	records *weblog.Records
	choice  weblog.Choice
	columns []parquetField // the ones that are read
	fields  [][]byte       // of the current row, by column of the file

	group int   // index of the next row group
	end   int   // index after the last row group to read
	left  int64 // unread rows of the open row group
	row   int64 // rows read, including those before the part
	total int64 // rows of all row groups
}

// openParquet opens a file that unpack.DetectFile has identified as Parquet, and chooses the columns to read. part
// selects row groups.
func openParquet(in *Input, fields Fields, part Part) (p *parquetLog, err error) {
	f, err := storage.Of(in.Name).Open(in.Name)
	if err != nil {
		return nil, err
	}
	p = &parquetLog{file: f, size: in.Size}
	if err := p.chooseColumns(fields); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.limitTo(part)
	return p, nil
}

// A parquetField reads one or more fields of a file, row by row.
type parquetField interface {
	// open starts a row group.
	open(group int) error
	// read sets its fields to the values of the next row.
	read(fields [][]byte) error
	// Unverified reports whether a page that was opened has no checksum.
	Unverified() bool
}

// chooseColumns reads the footer and chooses the columns, by their names and, if these are not known, by the first
// rows. After that, p is at its first row.
func (p *parquetLog) chooseColumns(fields Fields) (err error) {
	if p.reader, err = parquetfile.Open(p.file, p.size); err != nil {
		return parquetFault(err)
	}
	p.end = p.reader.Groups()
	for group := range p.end {
		p.total += p.reader.Rows(group)
	}
	columns := p.reader.Schema()
	header := make([]string, columns.NumColumns())
	for i := range header {
		header[i] = columns.Column(i).ColumnPath().String()
	}
	own := len(header) // without lists
	header, lists := addPairs(header, p.reader, fields)
	p.fields = make([][]byte, len(header))
	isList := func(i int) bool { return i < own && columns.Column(i).MaxRepetitionLevel() > 0 }
	use := func(needed []int) error {
		p.columns = nil
		seen := make([]bool, len(header))
		for _, i := range needed {
			if i < own && !seen[i] {
				if isList(i) {
					return fmt.Errorf("%w: %q is a list, which is not read", weblog.ErrNoField, header[i])
				}
				p.columns = append(p.columns, newParquetColumn(p.reader, i))
			}
			seen[i] = true
		}
		for _, list := range lists {
			if slices.Contains(seen[list.from:list.from+len(list.keys)], true) {
				list.createColumns(p.reader)
				p.columns = append(p.columns, list)
			}
		}
		return nil
	}
	known := weblog.Candidates(header, fields)
	if err := use(slices.DeleteFunc(slices.Clone(known), isList)); err != nil {
		return err
	}
	rows := p.firstRows()
	if p.records, p.choice, err = weblog.NewRecords(header, rows, fields); err != nil {
		return err
	}
	if p.records.Lacks() { // another column may have it; columns that cannot be read are ignored
		for i := range min(own, maxProbed) {
			if slices.Contains(known, i) || isList(i) || use([]int{i}) != nil {
				continue
			}
			for k, row := range p.firstRows() {
				if k < len(rows) {
					rows[k][i] = row[i]
				}
			}
		}
		if p.records, p.choice, err = weblog.NewRecords(header, rows, fields); err != nil {
			return err
		}
	}
	return use(p.records.Needed())
}

// firstRows returns copies of the first rows of p.columns, at most weblog.DetectLines, up to a fault in any of them,
// and goes back to the start.
func (p *parquetLog) firstRows() (rows [][][]byte) {
	defer func() {
		clear(p.fields)
		p.group, p.left = 0, 0
	}()
	for p.left == 0 && !p.done() {
		if p.nextGroup() != nil {
			return nil
		}
	}
	for range min(weblog.DetectLines, p.left) {
		for _, c := range p.columns {
			if c.read(p.fields) != nil {
				return rows
			}
		}
		row := make([][]byte, len(p.fields))
		for i, value := range p.fields {
			row[i] = append([]byte{}, value...)
		}
		rows = append(rows, row)
	}
	return rows
}

// done reports whether all rows were read.
func (p *parquetLog) done() bool { return p.left == 0 && p.group >= p.end }

// at returns the next row, which has the fault.
func (p *parquetLog) at() where { return where{line: p.row + 1} }

// packed estimates the bytes read from the rows read, because their columns are spread over the file.
func (p *parquetLog) packed() int64 {
	if p.done() {
		return p.size
	}
	return int64(float64(p.size) * float64(p.row) / float64(p.total))
}

// unverified returns 1, the first row, if a page has no checksum and rows were read before a fault, otherwise 0.
func (p *parquetLog) unverified() int64 {
	if p.row > 0 && slices.ContainsFunc(p.columns, parquetField.Unverified) {
		return 1
	}
	return 0
}

func (p *parquetLog) format() Format { return weblog.Parquet }
func (p *parquetLog) close() error   { return p.file.Close() }

// fill adds at most rows rows to b, all from one row group.
func (p *parquetLog) fill(r *rowReader, b *engine.Batch, rows, _ int) error {
	for p.left == 0 && !p.done() {
		if err := p.nextGroup(); err != nil {
			return err
		}
	}
	for range min(int64(rows), p.left) {
		if err := p.addRow(r, b); err != nil {
			return err
		}
	}
	return nil
}

// addRow reads the next row, and adds it to b unless it is rejected. The error is that of the file or the fields.
func (p *parquetLog) addRow(r *rowReader, b *engine.Batch) (err error) {
	for _, c := range p.columns {
		if err = c.read(p.fields); err != nil {
			return err
		}
	}
	p.left--
	p.row++
	result := p.records.Row(p.fields, &r.row)
	if result == weblog.Failed {
		return p.records.Err()
	}
	return r.addResult(nil, result, r.row.Target, where{line: p.row}, b)
}

// nextGroup opens the next row group. It may have no rows.
func (p *parquetLog) nextGroup() error {
	rows := p.reader.Rows(p.group)
	for i := 0; i < len(p.columns) && rows > 0; i++ {
		if err := p.columns[i].open(p.group); err != nil {
			return err
		}
	}
	p.left = rows
	p.group++
	return nil
}

// A parquetColumn reads a column as texts: numbers in decimal, times as in 2026-01-31T18:00:00Z.
type parquetColumn struct {
	*parquetfile.Column
	name  string
	index int
	typ   parquet.Type
	unit  time.Duration // of a number that is a time since 1970; 0 if it is not
	point int           // digits after the decimal point; -1 if it is not a decimal
	plus  bool          // it is an unsigned number
	large bool          // its numbers may be too large for an int64
	inner bool          // it is a field of a structure
	text  []byte        // the current number
}

// newParquetColumn returns a column of the file, which may be the values of a list.
func newParquetColumn(f *parquetfile.File, index int) *parquetColumn {
	col := f.Schema().Column(index)
	c := &parquetColumn{name: col.Path(), index: index, typ: col.PhysicalType(), point: -1, inner: len(col.ColumnPath()) > 1}
	switch t := col.LogicalType().(type) {
	case *schema.DecimalLogicalType:
		c.point = int(t.Scale())
	case *schema.IntLogicalType:
		c.plus = !t.IsSigned()
		c.large = c.plus && c.typ == parquet.Types.Int64 && !f.FitsSigned(index)
	case schema.DateLogicalType:
		c.unit = 24 * time.Hour
	case *schema.TimestampLogicalType:
		c.unit = map[schema.TimeUnitType]time.Duration{
			schema.TimeUnitMillis: time.Millisecond, schema.TimeUnitMicros: time.Microsecond, schema.TimeUnitNanos: time.Nanosecond,
		}[t.TimeUnit()]
	}
	c.Column = f.NewColumn(index)
	return c
}

// open starts a row group.
func (c *parquetColumn) open(group int) error { return c.fault(c.Open(group)) }

// read sets the field of the column to its next value.
func (c *parquetColumn) read(fields [][]byte) (err error) {
	fields[c.index], err = c.next()
	return err
}

// next returns the next value as text, nil for a null. It is valid until the next call.
func (c *parquetColumn) next() ([]byte, error) {
	v, null, err := c.Next()
	if err != nil || null {
		return nil, c.fault(err)
	}
	switch c.typ {
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		if c.point < 0 {
			return v.Bytes, nil
		}
		n := new(big.Int).SetBytes(v.Bytes) // big-endian, in two's complement
		if len(v.Bytes) > 0 && v.Bytes[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v.Bytes))))
		}
		c.text = c.appendDecimal(c.text[:0], n)
	case parquet.Types.Float:
		c.text = strconv.AppendFloat(c.text[:0], v.Float, 'g', -1, 32)
	case parquet.Types.Double:
		c.text = strconv.AppendFloat(c.text[:0], v.Float, 'g', -1, 64)
	case parquet.Types.Boolean:
		c.text = strconv.AppendBool(c.text[:0], v.Int != 0)
	case parquet.Types.Int96:
		c.text = appendTime(c.text[:0], parquet.Int96(v.Bytes).ToTime())
	default:
		c.text = c.appendInt(c.text[:0], v.Int)
	}
	return c.text, nil
}

// kind returns the kind that represents all values exactly: KeptText if no other kind does.
func (c *parquetColumn) kind() engine.KeptKind {
	switch c.typ {
	case parquet.Types.Float, parquet.Types.Double:
		return c.kindOrText(engine.KeptFloat)
	case parquet.Types.Boolean:
		return c.kindOrText(engine.KeptBool)
	case parquet.Types.Int96:
		return c.kindOrText(engine.KeptTime)
	case parquet.Types.Int32, parquet.Types.Int64:
		if c.unit > 0 {
			return c.kindOrText(engine.KeptTime)
		}
		if c.large {
			return engine.KeptText
		}
		return c.kindOrText(engine.KeptInt)
	default:
		return engine.KeptText
	}
}

// kindOrText returns kind, or KeptText for decimals and fields of structures.
func (c *parquetColumn) kindOrText(kind engine.KeptKind) engine.KeptKind {
	if c.inner || c.point >= 0 {
		return engine.KeptText
	}
	return kind
}

// appendDecimal appends n divided by 10 to the power of c.point.
func (c *parquetColumn) appendDecimal(dst []byte, n *big.Int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := new(big.Int).Abs(n).String()
	if zeros := c.point + 1 - len(digits); zeros > 0 {
		digits = strings.Repeat("0", zeros) + digits
	}
	dst = append(dst, digits[:len(digits)-c.point]...)
	if c.point > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-c.point:]...)
	}
	return dst
}

// fault returns err as a fault of the column; nil if err is nil.
func (c *parquetColumn) fault(err error) error {
	if err == nil {
		return nil
	}
	return parquetFault(fmt.Errorf("column %s: %w", c.name, err))
}

// parquetFault returns err as an ErrParquet with a remedy.
func parquetFault(err error) error {
	if errors.Is(err, parquetfile.ErrUnsupported) {
		return fmt.Errorf("%w: %w: write it again with another program", ErrParquet, err)
	}
	return fmt.Errorf("%w: %w: copy or download the file again", ErrParquet, err)
}

// appendInt appends a number, or the time that it represents, as text.
func (c *parquetColumn) appendInt(dst []byte, n int64) []byte {
	switch {
	case c.point >= 0:
		return c.appendDecimal(dst, big.NewInt(n))
	case c.plus && c.typ == parquet.Types.Int64:
		return strconv.AppendUint(dst, uint64(n), 10)
	case c.plus:
		return strconv.AppendUint(dst, uint64(uint32(n)), 10)
	case c.unit == 0:
		return strconv.AppendInt(dst, n, 10)
	case c.unit < time.Second:
		perSecond := int64(time.Second / c.unit)
		return appendTime(dst, time.Unix(n/perSecond, n%perSecond*int64(c.unit)))
	}
	return appendTime(dst, time.Unix(n*int64(c.unit/time.Second), 0))
}

func appendTime(dst []byte, t time.Time) []byte { return t.UTC().AppendFormat(dst, time.RFC3339Nano) }

// A parquetPairs reads values of a list of key-value pairs, such as event_params of Google Analytics in BigQuery. Each
// requested key is a field.
type parquetPairs struct {
	name   string           // of the list
	key    int              // column of the keys
	value  []int            // columns of the values; the first that is not null counts
	keys   []string         // requested
	from   int              // the field of the first key; the other fields follow
	cols   []*parquetColumn // the column of the keys, and the columns of the values
	memory []byte           // of the fields
}

// listNodes are the names that writers give to the node between a list and its elements.
var listNodes = []string{"list", "element", "array", "bag", "array_element", "item"}

// addPairs appends the requested fields of lists of key-value pairs to a header, which has a name for each column of f.
// Such a field is named after the list, a dot and the key. It returns the new header, and the lists that have a
// requested key.
func addPairs(header []string, f *parquetfile.File, fields Fields) ([]string, []*parquetPairs) {
	var lists []*parquetPairs
	for i, name := range header[:len(header):len(header)] {
		element, isKey := strings.CutSuffix(name, "."+weblog.PairKey)
		if !isKey || f.Schema().Column(i).MaxRepetitionLevel() != 1 {
			continue
		}
		list := &parquetPairs{key: i, from: len(header)}
		for _, value := range weblog.PairValues() {
			if at := slices.Index(header, element+"."+value); at >= 0 && f.Schema().Column(at).MaxRepetitionLevel() == 1 {
				list.value = append(list.value, at)
			}
		}
		path := strings.Split(element, ".")
		for len(path) > 1 && slices.Contains(listNodes, path[len(path)-1]) {
			path = path[:len(path)-1]
		}
		list.name = strings.Join(path, ".")
		for _, wanted := range weblog.Wanted(fields) {
			if key, ok := strings.CutPrefix(wanted, list.name+"."); ok && len(list.value) > 0 && !slices.Contains(header, wanted) {
				list.keys = append(list.keys, key)
				header = append(header, wanted)
			}
		}
		if len(list.keys) > 0 {
			lists = append(lists, list)
		}
	}
	return header, lists
}

// createColumns creates the columns.
func (l *parquetPairs) createColumns(f *parquetfile.File) {
	for _, column := range append([]int{l.key}, l.value...) {
		l.cols = append(l.cols, newParquetColumn(f, column))
	}
}

// open starts a row group in all columns.
func (l *parquetPairs) open(group int) error {
	for _, c := range l.cols {
		if err := c.open(group); err != nil {
			return err
		}
	}
	return nil
}

// Unverified reports whether a page has no checksum.
func (l *parquetPairs) Unverified() bool {
	return slices.ContainsFunc(l.cols, (*parquetColumn).Unverified)
}

// errPairs means that the columns of a list have different lengths.
var errPairs = errors.New("it has other elements than the column of its keys")

// read sets the fields to the values of the next row; nil for keys that the row lacks. They are valid until the next
// call. If several elements have the same key, the last one counts.
func (l *parquetPairs) read(fields [][]byte) error {
	clear(fields[l.from : l.from+len(l.keys)])
	l.memory = l.memory[:0]
	for more := true; more; {
		key, err := l.cols[0].next()
		if err != nil {
			return err
		}
		field := -1
		if i := slices.Index(l.keys, string(key)); key != nil && i >= 0 {
			field = l.from + i
			fields[field] = nil
		}
		for _, c := range l.cols[1:] {
			value, err := c.next()
			if err != nil {
				return err
			}
			if field >= 0 && value != nil && fields[field] == nil {
				begin := len(l.memory)
				l.memory = append(l.memory, value...) // the next page overwrites value
				fields[field] = l.memory[begin:len(l.memory):len(l.memory)]
			}
		}
		for i, c := range l.cols {
			also, err := c.Continues()
			if err == nil && i > 0 && also != more {
				err = errPairs
			}
			if err != nil {
				return c.fault(err)
			}
			more = also
		}
	}
	return nil
}
