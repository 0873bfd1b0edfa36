// Package agents expands the names of crawlers that -agent gives: product tokens, sets of known
// crawlers, and files of names. Only cmd/robobatch imports it.
package agents

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// Expand returns the crawlers that -agent asks for: names, sets such as @search, and files such as
// @my/list.txt or @list.txt with a name a line. A crawler that a set or file names again is meant
// once; to name one twice by hand is an error, as that is a mistake. Names are one if they differ
// in case only, and the first spelling counts. All faults are reported at once, and none quotes the content of a file.
func Expand(given []string) ([]string, error) {
	return expand(given, func(name string) (io.ReadCloser, error) { return place.Open(name) })
}

// ExpandBeside is Expand for names that stand in a file, whose author may be a stranger: files of names are found in dir,
// or below it, and nowhere else, through links either. nil allows none.
func ExpandBeside(dir *os.Root, given []string) ([]string, error) {
	return expand(given, func(name string) (io.ReadCloser, error) {
		if dir == nil {
			return nil, errors.New("lists of names are not read here: write the names, or a set such as @search")
		}
		f, err := dir.Open(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			err = errors.New("not in the directory of the file that names it, or below: put the list there")
		}
		return f, err
	})
}

// expand expands names; open opens a file of names.
func expand(given []string, open func(name string) (io.ReadCloser, error)) ([]string, error) {
	e := agentList{byHand: map[string]bool{}, open: open}
	errs := make([]error, 0, len(given))
	for i, item := range given {
		if item == "" && slices.Contains(given[:i], item) { // as in "a,,b,", which is one fault
			continue
		}
		errs = append(errs, e.addItem(item))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return e.names, nil
}

// An agentList collects names.
type agentList struct {
	names  []string
	byHand map[string]bool // by name in lower case: whether it stands in the flag itself
	open   func(name string) (io.ReadCloser, error)
}

// addItem adds the names that one item of the flag stands for.
func (l *agentList) addItem(item string) error {
	name, list := strings.CutPrefix(item, "@")
	switch {
	case !list:
		// Add a name that stands in the flag.
		if err := checkAgent(item); err != nil {
			return err
		}
		if l.byHand[strings.ToLower(item)] {
			return fmt.Errorf("%q is named twice: name it once", item)
		}
		l.addOnce(item)
		l.byHand[strings.ToLower(item)] = true
		return nil
	case name == "":
		return errors.New("@ alone names no list: write @ and the name of a set or of a file")
	case strings.ContainsAny(name, "/."):
		// Add the names in a file: one a line; # begins a comment, and empty lines do not count.
		f, err := l.open(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", say.File(name), atomicfile.Cause(err))
		}
		defer f.Close()
		var errs []error
		before, lines := len(l.names), bufio.NewScanner(f)
		lines.Buffer(nil, maxListLine)
		n, found := 0, false
		for lines.Scan() {
			n++
			text := strings.TrimPrefix(lines.Text(), "\ufeff")
			text, _, _ = strings.Cut(text, "#")
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			found = true
			if text[0] == '@' || strings.ContainsAny(text, white) { // not quoted: the file may be none of names, but secret
				errs = append(errs, fmt.Errorf("%s, line %d: not the name of a crawler: write one product token, such as Googlebot, or *", say.File(name), n))
				continue
			}
			l.addOnce(text)
		}
		if err := lines.Err(); err != nil {
			errs = append(errs, fmt.Errorf("read %s, after line %d: %w", say.File(name), n, atomicfile.Cause(err)))
		} else if !found && len(l.names) == before {
			errs = append(errs, fmt.Errorf("%s names no crawler", say.File(name)))
		}
		return errors.Join(errs...)
	}
	set := crawlers.Set(strings.ToLower(name))
	if set == nil {
		err := fmt.Errorf("there is no set %q: use one of @%s; a file has a / or . in its name, as in @./%s",
			item, strings.Join(crawlers.Sets(), ", @"), name)
		if near := cli.Closest(name, crawlers.Sets()); near != "" {
			err = fmt.Errorf("%w; did you mean @%s?", err, near)
		}
		return err
	}
	for _, c := range set {
		l.addOnce(c.Token)
	}
	return nil
}

// addOnce adds a name unless it is there.
func (l *agentList) addOnce(name string) {
	key := strings.ToLower(name)
	if _, seen := l.byHand[key]; !seen {
		l.byHand[key] = false
		l.names = append(l.names, name)
	}
}

// maxListLine is the length of a line in a file of names, far beyond any name.
const maxListLine = 1 << 16

// CheckRow checks the name of a crawler that a row has: one, and no list.
func CheckRow(name string) error {
	if strings.HasPrefix(name, "@") {
		return fmt.Errorf("%q may be a list: a row is decided for one crawler: give its product token, such as Googlebot, or *", name)
	}
	return checkAgent(name)
}

// white is the white space that no name has inside.
const white = " \t\r\n"

// checkAgent checks the name of a crawler. It may hold more than its product token, such as a
// version. A name with white space is refused: it is the text of a User-Agent header, and any of
// its words may be the crawler.
func checkAgent(name string) error {
	switch {
	case name == "":
		return errors.New("an empty name: give a product token, such as Googlebot, or *")
	case strings.ContainsAny(name, white):
		return fmt.Errorf("%q is no name of a crawler: give its product token, such as Googlebot, or *", name)
	}
	return nil
}
