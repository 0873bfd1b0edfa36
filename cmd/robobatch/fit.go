package main

import (
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

// A fitWriter cuts what is written to a terminal at its right edge, so that a line that redraws itself never wraps,
// however narrow the terminal is or becomes. Runes count as one column each; control characters but CR and LF do not come.
type fitWriter struct {
	w      io.Writer
	width  func() int // of the terminal in columns; 0 is unknown, and nothing is cut
	column int        // of the cursor
}

// Write writes what fits. The last column stays free, as some terminals wrap once it is filled.
func (f *fitWriter) Write(p []byte) (int, error) {
	kept := make([]byte, 0, len(p))
	width := f.width()
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		switch {
		case r == '\r' || r == '\n':
			f.column = 0
			kept = append(kept, p[i])
		case width <= 0 || f.column < width-1:
			f.column++
			kept = append(kept, p[i:i+size]...)
		}
		i += size
	}
	if _, err := f.w.Write(kept); err != nil {
		return 0, err
	}
	return len(p), nil
}

// columnsOf returns the width of a terminal, 0 for anything else.
func columnsOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// isDumb reports whether the terminal cannot redraw a line.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }
