package output

// A syntax is how rows are written as lines of text. What it says of values holds for all formats that have it.
type syntax struct {
	header bool                                               // the names of the columns are the first line
	lead   func(dst []byte, column int, name string) []byte   // appends what precedes the value of a column
	text   func(dst, text []byte) []byte                      // appends a text, which is valid UTF-8
	float  func(dst []byte, f float64) []byte                 // appends a number
	time   func(c *calendar, dst []byte, micros int64) []byte // appends a moment
	null   string                                             // what stands for no value
	end    string                                             // ends a row
}

// csvSyntax is CSV after RFC 4180, but for its line ends, which are LF.
var csvSyntax = syntax{
	header: true,
	lead: func(dst []byte, column int, _ string) []byte {
		if column == 0 {
			return dst
		}
		return append(dst, ',')
	},
	text:  appendCSV,
	float: appendFloat,
	time:  (*calendar).append,
	end:   "\n",
}

// jsonSyntax is JSON Lines: RFC 8259, an object a line.
var jsonSyntax = syntax{
	lead: func(dst []byte, column int, name string) []byte {
		open := byte(',')
		if column == 0 {
			open = '{'
		}
		return append(appendJSON(append(dst, open), []byte(name)), ':')
	},
	text:  appendJSON,
	float: appendJSONFloat,
	time:  appendJSONTime,
	null:  "null",
	end:   "}\n",
}
