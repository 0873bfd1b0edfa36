package flags

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// ExpandAgents returns the crawlers that -agent asks for: names, sets such as @search, and files such as @my/list.txt
// or @list.txt with one name per line. Duplicates from sets and files are dropped; a name given twice by hand is an
// error. Names are compared without regard to case, and the first spelling counts. The error reports every fault, and
// never quotes the content of a file.
func ExpandAgents(given []string) ([]string, error) {
	return expandItems(given, func(name string) (io.ReadCloser, error) { return storage.Open(name) })
}

// ExpandAgentsBeside is ExpandAgents for items from an untrusted file: the lists that they name must be in dir or
// below it, also after following links. If dir is nil, lists are not allowed.
func ExpandAgentsBeside(dir *os.Root, given []string) ([]string, error) {
	return expandItems(given, func(name string) (io.ReadCloser, error) {
		if dir == nil {
			return nil, errors.New("a file of names cannot be used here: write the names, or a set such as @search")
		}
		f, err := dir.Open(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			err = errors.New("the list is outside the directory of the file that names it: move it there")
		}
		return f, err
	})
}

// expandItems returns the names that the items of a flag stand for. open opens a file of names.
func expandItems(given []string, open func(name string) (io.ReadCloser, error)) ([]string, error) {
	e := agentList{byHand: map[string]bool{}, open: open}
	errs := make([]error, 0, len(given))
	for i, item := range given {
		if item == "" && slices.Contains(given[:i], item) { // "a,,b," is one fault
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
	byHand map[string]bool // by name in lower case: true if the flag itself contains it, false if it comes from a set or list
	open   func(name string) (io.ReadCloser, error)
}

// addItem adds the names that one item of the flag stands for. It returns all faults of a file, joined.
func (l *agentList) addItem(item string) error {
	name, list := strings.CutPrefix(item, "@")
	switch {
	case !list:
		// Add a name from the flag itself.
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
		return errors.New("missing name after @: write @ and the name of a set or file")
	case strings.ContainsAny(name, "/."):
		// Add the names in a file, one per line. # begins a comment, and empty lines are skipped.
		f, err := l.open(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", msg.File(name), atomicfile.WithoutPath(err))
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
			if robots.ProductToken(text).IsPolicy() {
				errs = append(errs, fmt.Errorf("%s, line %d: %s", msg.File(name), n, noCrawler))
				continue
			}
			if text[0] == '@' || strings.ContainsAny(text, white) { // not quoted: the file may be a secret, not a list
				errs = append(errs, fmt.Errorf("%s, line %d: not the name of a crawler: write one product token, such as Googlebot, or *", msg.File(name), n))
				continue
			}
			l.addOnce(text)
		}
		if err := lines.Err(); err != nil {
			errs = append(errs, fmt.Errorf("read %s, after line %d: %w", msg.File(name), n, atomicfile.WithoutPath(err)))
		} else if !found && len(l.names) == before {
			errs = append(errs, fmt.Errorf("%s does not name any crawler", msg.File(name)))
		}
		return errors.Join(errs...)
	}
	set := crawlers.Set(strings.ToLower(name))
	if set == nil {
		err := fmt.Errorf("unknown set %q: use one of @%s; for a file, write a / or . in its name, as in @./%s",
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

// maxListLine is the maximum length of a line in a file of names, far longer than any name.
const maxListLine = 1 << 16

// CheckAgentOfRow checks the crawler name in a row of an input: it must be one name, not a list.
func CheckAgentOfRow(name string) error {
	if strings.HasPrefix(name, "@") {
		return fmt.Errorf("%q may be a list, but each row is decided for one crawler: give its product token, such as Googlebot, or *", name)
	}
	return checkAgent(name)
}

// white is the white space that a name must not contain.
const white = " \t\r\n"

// noCrawler is the error text for a token that only controls a use of pages, such as __usage_ai-training.
const noCrawler = "a token that begins with __usage_ names a use of pages, not a crawler: use the columns policy_train_ai and use_train_ai, with any crawler"

// checkAgent checks the name of a crawler. The name may include more than a product token, such as a version. A name
// with white space is rejected: it is probably a User-Agent header, and any of its words may be the crawler.
func checkAgent(name string) error {
	switch {
	case name == "":
		return errors.New("an empty name: give a product token, such as Googlebot, or *")
	case strings.ContainsAny(name, white):
		return fmt.Errorf("%q is not a crawler's name: give its product token, such as Googlebot, or *", name)
	case robots.ProductToken(name).IsPolicy():
		return fmt.Errorf("%q: %s", name, noCrawler)
	}
	return nil
}

// maxCrawlersFile is the maximum size of a file of crawlers in bytes, far more than all crawlers need.
const maxCrawlersFile = 4 << 20

// AddCrawlers adds the crawlers in a file to the known ones of the process, see [crawlers.Add], and returns the
// hexadecimal SHA-256 of the file. If the name is empty, it does nothing and returns "".
func AddCrawlers(name string) (hash string, err error) {
	if name == "" {
		return "", nil
	}
	f, err := storage.Open(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", msg.File(name), atomicfile.WithoutPath(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCrawlersFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", msg.File(name), atomicfile.WithoutPath(err))
	case len(text) > maxCrawlersFile:
		return "", fmt.Errorf("%s is larger than %d MiB, so it is not a table of crawlers", msg.File(name), maxCrawlersFile>>20)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), crawlers.Add(msg.File(name), text)
}

// RuleTokens holds the product tokens that groups of the rules name.
type RuleTokens struct {
	Tokens   []robots.ProductToken
	Complete bool // the list has all tokens
}

// NeedsRuleTokens reports whether some name is not a known crawler, so that UnclearAgents needs the product tokens of
// the rules.
func NeedsRuleTokens(asked []string, d robots.Dialect) bool { return len(unknownAgents(asked, d)) > 0 }

// unknownAgents returns the names that are not known crawlers, by token or User-Agent. Names without a product token,
// such as "*", are not among them.
func unknownAgents(asked []string, d robots.Dialect) []string {
	return slices.DeleteFunc(slices.Clone(asked), func(name string) bool {
		product := productOf(name)
		_, token := crawlers.Lookup(product)
		_, header := crawlers.Identify([]byte(product))
		return robots.NewAgent(name, d).Token == "" || token || header ||
			slices.ContainsFunc(wellKnown, func(w string) bool { return strings.EqualFold(w, product) })
	})
}

// UnclearAgents returns a warning if requested names may be misspelt; nil otherwise. Such a name is not a known
// crawler and no group of the rules names it, but it resembles a name that is. The name of an in-house crawler is not
// reported unless it resembles a known one.
func UnclearAgents(asked []string, d robots.Dialect, named RuleTokens) []warning.Warning {
	table := crawlers.Set("all")
	known, inRules := make([]word, 0, len(table)), make([]word, 0, len(named.Tokens))
	for _, c := range table {
		known = append(known, newWord(c.Token))
	}
	for _, t := range named.Tokens {
		inRules = append(inRules, newWord(string(t)))
	}
	result := warning.Warning{Code: warning.UnclearAgent}
	for _, name := range unknownAgents(asked, d) {
		token := robots.NewAgent(name, d).Token
		if slices.ContainsFunc(named.Tokens, token.Equal) {
			continue
		}
		near := closest(newWord(productOf(name)), known)
		if near == "" {
			near = closest(newWord(string(token)), inRules)
		}
		if near == "" {
			continue
		}
		if result.Count++; result.Count <= warning.Examples {
			result.Examples = append(result.Examples, fmt.Sprintf("%q: did you mean %s?", name, near))
		}
	}
	if result.Count == 0 {
		return nil
	}
	result.Text = "a crawler name may be misspelt: it is not in the list of known crawlers"
	if named.Complete {
		result.Text += ", nor in any robots.txt of -rules"
	}
	return []warning.Warning{result}
}

// productOf returns a name up to its first slash: "Googlebot/2.1" is "Googlebot".
func productOf(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}

// wellKnown are names of real crawlers that are not in package crawlers, but resemble a name in it. Of 2,561 real
// robots.txt files, 8 and 21 name them.
var wellKnown = []string{"Roverbot", "spbot"}

// A word is a name prepared for comparison.
type word struct {
	name    string // as written
	plain   string // in lower case and without hyphens
	letters uint32 // bit set of the letters in plain
}

// newWord returns the word of a name.
func newWord(name string) word {
	w := word{name: name, plain: hyphens.Replace(strings.ToLower(name))}
	for _, b := range []byte(w.plain) {
		w.letters |= 1 << (b % 32)
	}
	return w
}

// hyphens separate the parts of a name.
var hyphens = strings.NewReplacer("-", "", "_", "", ".", "")

// closest returns the first known name that a name resembles; "" if there is no such name.
func closest(w word, known []word) string {
	for i := range known {
		if areAlike(&w, &known[i]) {
			return known[i].name
		}
	}
	return ""
}

// kinds are common endings of crawler names. A shared ending does not make two names alike.
var kinds = []string{"bot", "spider", "crawler"}

// Minimum numbers of letters, without the ending, for names that differ in one letter or in two letters to be alike.
// Shorter names are alike only if all letters are equal.
const (
	oneLetter  = 4
	twoLetters = 8
)

// areAlike reports whether a name may be a misspelling of a known one. They may differ in hyphens, in a doubled
// letter, in two adjacent letters that are swapped, or, if the name is long enough, in a few letters. Of 2,348 names
// in real robots.txt files, ten resemble a name in package crawlers, and only those in wellKnown belong to other
// crawlers.
func areAlike(w, known *word) bool {
	const most = 2 // differing letters
	a, b := w.plain, known.plain
	if len(a) < 3 || len(b) < 3 || max(len(a), len(b))-min(len(a), len(b)) > most || bits.OnesCount32(w.letters^known.letters) > 2*most {
		return false
	}
	rest := b
	for _, kind := range kinds {
		if cut, ok := strings.CutSuffix(b, kind); ok && cut != "" {
			rest = cut
			break
		}
	}
	switch d := cli.Distance(a, b); {
	case d == 0:
		return true // equal except for hyphens
	case len(rest) >= twoLetters:
		return d <= most
	case len(rest) >= oneLetter:
		return d == 1
	default:
		return d == 1 && w.letters == known.letters
	}
}
