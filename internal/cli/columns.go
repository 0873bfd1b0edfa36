package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Columns returns how many columns of a terminal a text takes that has no line ends and nothing that a
// terminal obeys: two for each wide letter of East Asia and each picture, none for a mark that stands
// on the letter before it.
func Columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns the columns of a character.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the blocks whose characters take two columns (Unicode Standard Annex #11).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// Fit returns a text in at most so many columns, at least three. A mark stands where
// its middle is left out: the difference between long names and rules is often at their end.
func Fit(s string, columns int) string {
	columns = max(columns, 3)
	if len(s) <= columns || Columns(s) <= columns {
		return s
	}
	const mark = "…"
	head := (columns - 1) * 2 / 3
	tail := columns - 1 - head
	begin := 0
	for _, r := range s {
		if head -= columnsOf(r); head < 0 {
			break
		}
		begin += utf8.RuneLen(r)
	}
	end := len(s)
	for end > begin {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if tail -= columnsOf(r); tail < 0 {
			break
		}
		end -= size
	}
	isMark := func(r rune) bool { return columnsOf(r) == 0 } // of a letter that is left out
	return s[:begin] + mark + strings.TrimLeftFunc(s[end:], isMark)
}

// FitWords returns a text with each word that is longer than so many columns shortened by [Fit].
func FitWords(s string, columns int) string {
	words := strings.Split(s, " ")
	for i, word := range words {
		words[i] = Fit(word, columns)
	}
	return strings.Join(words, " ")
}

// Fill returns the words of a text in lines of up to so many columns. A word that is longer stands alone
// on its line.
func Fill(text string, columns int) string {
	var sb strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		width := Columns(word)
		switch {
		case i == 0:
		case column+1+width > columns:
			sb.WriteByte('\n')
			column = 0
		default:
			sb.WriteByte(' ')
			column++
		}
		sb.WriteString(word)
		column += width
	}
	return sb.String()
}
