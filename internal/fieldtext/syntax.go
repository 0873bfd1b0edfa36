package fieldtext

// A Syntax says how rows are written as lines of text. Its functions append to dst.
type Syntax struct {
	Header bool                                               // the names of the columns are the first line
	Lead   func(dst []byte, column int, name string) []byte   // appends the text before the value of a column
	Text   func(dst, text []byte) []byte                      // appends a text, which is valid UTF-8
	Float  func(dst []byte, f float64) []byte                 // appends a number
	Time   func(c *Calendar, dst []byte, micros int64) []byte // appends a moment
	Null   string                                             // the text for no value
	End    string                                             // ends a row
}

// CSV is CSV after RFC 4180, but for its line ends, which are LF.
var CSV = Separated(',', false)

// TSV is the same with tabs in place of commas.
var TSV = Separated('\t', false)

// Separated returns the syntax of CSV with another separator, which is ASCII. A safe one writes an
// apostrophe before a text that [IsFormula].
func Separated(separator byte, safe bool) Syntax {
	s := Syntax{
		Header: true,
		Lead: func(dst []byte, column int, _ string) []byte {
			if column == 0 {
				return dst
			}
			return append(dst, separator)
		},
		Text:  func(dst, text []byte) []byte { return appendCSV(dst, text, separator) },
		Float: appendFloat,
		Time:  (*Calendar).append,
		End:   "\n",
	}
	if safe {
		s.Text = func(dst, text []byte) []byte {
			if !IsFormula(text) {
				return appendCSV(dst, text, separator)
			}
			return appendQuoted(append(dst, '"', '\''), text)
		}
	}
	return s
}

// IsFormula reports whether a spreadsheet may run a text as a formula: it begins with =, +, -, @, a
// tab or a carriage return, and goes on. A single - is none: it names standard input, and in logs
// stands for nothing.
func IsFormula(text []byte) bool { return len(text) > 1 && formulaStarts[text[0]] }

var formulaStarts = [256]bool{'=': true, '+': true, '-': true, '@': true, '\t': true, '\r': true}

// JSON is JSON Lines: RFC 8259, an object a line.
var JSON = Syntax{
	Lead: func(dst []byte, column int, name string) []byte {
		open := byte(',')
		if column == 0 {
			open = '{'
		}
		return append(appendJSON(append(dst, open), []byte(name)), ':')
	},
	Text:  appendJSON,
	Float: appendJSONFloat,
	Time:  appendJSONTime,
	Null:  "null",
	End:   "}\n",
}
