// Command render makes tables and charts of the newest results of the benchmarks:
//
//	go run ./bench/render
//
// It reads the last file, by name, of bench/results/*.txt, lines of Go's benchmark format, and takes the median of all lines of a name.
// It writes the charts beside it, and the tables into README.md and bench/README.md, between the lines
// <!-- bench:NAME --> and <!-- /bench:NAME -->. With -name it prints how to name a file of results made here and now. With -keep it copies the
// lines of results from standard input to standard output, and all others to standard error.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/measure"
)

func main() {
	top := flag.String("C", ".", "the top of the source tree")
	name := flag.Bool("name", false, "print the name for a file of results made here and now, and do nothing else")
	kept := flag.Bool("keep", false, "copy results from standard input to standard output, what else there is to standard error, and do nothing else")
	flag.Parse()
	if *name {
		fmt.Println(fileName(time.Now().UTC(), measure.Machine()))
		return
	}
	work := func() error { return run(*top) }
	if *kept {
		work = func() error { return keep(os.Stdout, os.Stderr, os.Stdin) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(2)
	}
}

// fileName returns date and machine in letters, digits and hyphens.
func fileName(now time.Time, machine string) string {
	machine = strings.NewReplacer("(R)", "", "(TM)", "").Replace(machine)
	words := strings.FieldsFunc(strings.ToLower(machine), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return now.Format(time.DateOnly) + "-" + strings.Join(words, "-") + ".txt"
}

// run writes all that differs.
func run(top string) error {
	files, err := rendered(top)
	if err != nil {
		return err
	}
	for name, text := range files {
		if old, err := os.ReadFile(name); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return nil
}

// rendered returns all files that show results, by name, as they must be.
func rendered(top string) (map[string]string, error) {
	results := filepath.Join(top, "bench", "results")
	r, err := newest(results)
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		filepath.Join(results, "peers.svg"): r.peersChart().svg(),
		filepath.Join(results, "whole.svg"): r.wholeChart().svg(),
	}
	for _, name := range []string{filepath.Join(top, "README.md"), filepath.Join(top, "bench", "README.md")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if files[name], err = fill(string(text), r.tables()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// fill puts each table between its marks, wherever they are; others stay out.
func fill(text string, tables map[string]string) (string, error) {
	for name, table := range tables {
		begin, end := "<!-- bench:"+name+" -->\n", "<!-- /bench:"+name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		if !ok {
			continue
		}
		_, tail, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("%s has no end %s", strings.TrimSpace(begin), end)
		}
		text = head + begin + "\n" + table + "\n" + end + tail
	}
	return text, nil
}
