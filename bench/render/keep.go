package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// result is what a line of a file of results is: that of a benchmark, with the number of its turns and at least one pair of a value
// and a unit, or of the header, of which benchstat does not read what follows a #.
var result = regexp.MustCompile(`^(Benchmark\S*\s+\d+(\s+[-+.\w]+\s+\S+)+|(goos|goarch|pkg|cpu|corpus|(# )?(go|date|load)): .*)\s*$`)

// keep copies from r to w the lines that are results, and all others to rest, with what is not ASCII there escaped: what benchmarks
// log may be any bytes. It reads to the end.
func keep(w, rest io.Writer, r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		text, errRead := lines.ReadString('\n')
		if line := strings.TrimRight(text, "\r\n"); text != "" {
			to, shown := rest, escape(line)
			if shown == line && result.MatchString(line) {
				to = w
			}
			if _, err := fmt.Fprintln(to, shown); err != nil {
				return fmt.Errorf("write results: %w", err)
			}
		}
		switch {
		case errors.Is(errRead, io.EOF):
			return nil
		case errRead != nil:
			return fmt.Errorf("read results: %w", errRead)
		}
	}
}

// escape returns the line with all bytes but printable ASCII and tabs escaped as in Go.
func escape(line string) string {
	var sb strings.Builder
	for part, more := line, true; more; {
		var head string
		head, part, more = strings.Cut(part, "\t")
		quoted := strconv.QuoteToASCII(head)
		if strings.ContainsFunc(head, func(r rune) bool { return r < ' ' || r > '~' }) {
			head = quoted[1 : len(quoted)-1]
		}
		sb.WriteString(head)
		if more {
			sb.WriteByte('\t')
		}
	}
	return sb.String()
}
