package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/internal/measure"
)

// files are the loading of a directory with a file for each origin, by the clock, against reading
// the same files one after the other.
func (l *lab) files(spec madeup.Spec) []trial {
	dir := filepath.Join(l.dir, "madeup.files")
	in := input{dir, func(m *maker) error { return madeup.WriteRules(dir, m.made.Responses()) }}
	one := input{dir + ".txt", func(*maker) error { return os.WriteFile(dir+".txt", []byte("https://www.example.com/\n"), 0o600) }}
	name := fmt.Sprintf("Files/data=madeup/origins=%d/workers=2", spec.Origins)
	run := func() (measure.Sample, error) {
		// Read the files, have cat read them if there is such a command, and run the command on
		// one URL. It tells how long each took, and how many times as long the command, by the clock and by
		// processor time.
		var s measure.Sample
		var err error
		names, err := filepath.Glob(filepath.Join(dir, "*")) // as a shell lists them
		if err != nil {
			return s, err
		}
		read, err := measure.Here(func() (measure.Work, error) { return measure.Work{}, readFiles(names) })()
		if err != nil {
			return s, err
		}
		cat, err := l.cat(names)
		if err != nil {
			return s, err
		}
		s, r, err := l.exec(dir, one.path, 2)
		s.Units = r.Rules.Patterns
		for _, other := range []struct {
			name string
			took measure.Sample
		}{{"read", read}, {"cat", cat}} {
			if wall := other.took.Wall; wall > 0 {
				s.Extra = append(s.Extra, measure.Metric{Value: wall.Seconds() * 1e3, Unit: other.name + "-ms"},
					measure.Metric{Value: s.Wall.Seconds() / wall.Seconds(), Unit: "load/" + other.name})
			}
			if cpu := other.took.CPU; cpu > 0 {
				s.Extra = append(s.Extra, measure.Metric{Value: s.CPU.Seconds() / cpu.Seconds(), Unit: "cpu/" + other.name})
			}
		}
		return s, err
	}
	return []trial{{measure.Case{Name: name, Unit: "rule", Run: run}, []input{in, one}}}
}

// readFiles opens, reads and closes each of the files.
func readFiles(names []string) error {
	buf := make([]byte, 128<<10)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		for err == nil {
			_, err = f.Read(buf)
		}
		f.Close() //nolint:errcheck // only read
		if err != io.EOF {
			return err
		}
	}
	return nil
}

// cat has the command cat read the files, and takes no time if there is none.
func (l *lab) cat(names []string) (s measure.Sample, err error) {
	for _, tool := range []string{"xargs", "cat"} {
		if _, err := exec.LookPath(tool); err != nil {
			return s, nil //nolint:nilerr // what it takes is left out of the results
		}
	}
	cmd := exec.CommandContext(l.ctx, "xargs", "-0", "cat") // its output goes to the null device
	cmd.Stdin = strings.NewReader(strings.Join(names, "\x00") + "\x00")
	return measure.Exec(cmd)
}
