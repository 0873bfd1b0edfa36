// Package ranges decides whether a request that names a crawler came from an address that the crawler's operator
// published at the time of the request.
//
// Operators publish lists of prefixes and change them. A list has one snapshot for each time at which it was saved;
// [Load] reads them from files. [Lists.Verify] uses the last snapshot before the request and the first one after it. A
// list proves only the operator: some operators have one list for several crawlers.
//
// A file of host names ([Options.Hosts]) verifies a crawler by reverse and forward DNS instead.
//
// The package hides the formats of lists and the table that looks up addresses. It does not use rules or logs, and
// opens no connections. Go programs use it together with [crawlers.Identify]; engine and commands import it.
package ranges

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gaissmai/bart"

	"github.com/robobatch/robobatch/crawlers"
)

// Options name the input of Load. The zero value reads nothing, so all crawlers are Unpublished.
type Options struct {
	// Paths are files of lists; directories with such files, read recursively; or TOKEN=FILE, where TOKEN is the
	// crawler of the file. Otherwise the name of the file determines the crawlers: see [Names].
	Paths []string
	Age   time.Duration // maximum distance from a snapshot at which a missing address is an impostor's; 0 means DefaultAge
	Hosts string        // file with the host names of addresses; "" if there is none

	// Bytes is the maximum total size of the files. More are rejected before they are read, because loading takes
	// up to [LoadFactor] times as much memory. 0 means no limit.
	Bytes int64
}

// Lists are all lists of a run, by crawler. They are immutable.
type Lists struct {
	lists    []list
	speakers []speaker // speakers[0] has no list
	byToken  map[string]Speaker
	hosts    *hosts // nil without Options.Hosts
	proofs   []string
	age      time.Duration

	Hash string // of everything that answers and proofs depend on except the age, in hexadecimal

	Asked []string // the tokens in TOKEN=FILE

	// Differ are pairs of files with different content for the same list and time. Both are used.
	Differ [][2]string
}

// A speaker has the lists of one crawler.
type speaker struct {
	lists    []int      // indexes in Lists.lists
	untimed  bool       // see Untimed
	suffixes [][]string // of host names, as labels
}

// LoadFactor is the maximum memory for loading, as a multiple of the size of the files: 22 was measured for a
// million prefixes in JSON, 36 for prefixes in text.
const LoadFactor = 40

// Load reads lists and hosts. The error joins all faults, each with its file and place; the Lists are then incomplete.
func Load(o Options) (*Lists, error) {
	l := &Lists{
		speakers: []speaker{{}}, byToken: map[string]Speaker{}, proofs: []string{""},
		age: cmp.Or(o.Age, DefaultAge),
	}
	g := gatherer{names: Names(), found: map[string]*foundList{}, most: o.Bytes}
	for _, p := range o.Paths {
		g.gather(p)
	}
	l.Asked = g.asked
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(g.found)) {
		f := g.found[name]
		fmt.Fprintf(sum, "list %q %q\n", name, f.tokens)
		for _, s := range f.snapshots {
			fmt.Fprintf(sum, "%q %d %v\n", s.name, s.time, s.prefixes)
		}
	}
	l.build(&g)
	if o.Hosts != "" {
		text, err := g.read(o.Hosts)
		if err != nil {
			g.errs = append(g.errs, fmt.Errorf("read host names: %w", err))
		} else {
			fmt.Fprintf(sum, "hosts %d\n%s", len(text), text)
			l.hosts, err = parseHosts(string(text), func(name string) Proof {
				l.proofs = append(l.proofs, name)
				return Proof(len(l.proofs) - 1)
			})
			if err != nil {
				g.errs = append(g.errs, fmt.Errorf("read host names: %s: %w", o.Hosts, err))
			}
		}
	}
	l.Hash = hex.EncodeToString(sum.Sum(nil))
	return l, errors.Join(g.errs...)
}

// A foundList has the files of one list.
type foundList struct {
	tokens    []string // of the crawlers of the list
	snapshots []snapshot
}

// checkCover returns an error if all files of the list together cover too many addresses. It returns nil for a single
// file, which is checked when it is parsed.
func (f *foundList) checkCover() error {
	if len(f.snapshots) < 2 {
		return nil
	}
	var all []netip.Prefix
	for _, s := range f.snapshots {
		all = append(all, s.prefixes...)
	}
	if err := checkCover(all); err != nil {
		first, last := f.snapshots[0].file, f.snapshots[len(f.snapshots)-1].file
		return fmt.Errorf("read lists of addresses: %s to %s, %d files of one list: %w", first, last, len(f.snapshots), err)
	}
	return nil
}

// build compiles the lists of a gatherer into l.lists, in the order of their names, and numbers their proofs. It sorts
// and merges the snapshots in place. Faults are added to g.errs.
func (l *Lists) build(g *gatherer) {
	l.lists = make([]list, 0, len(g.found)) // tables must not be copied
	for _, name := range slices.Sorted(maps.Keys(g.found)) {
		f := g.found[name]
		if err := f.checkCover(); err != nil {
			g.errs = append(g.errs, err)
			f.snapshots = f.snapshots[:1] // more would take too long
		}
		proofs := map[netip.Prefix]Proof{} // by the first file that has the prefix
		for _, s := range f.snapshots {
			for _, p := range s.prefixes {
				if proofs[p] == 0 {
					proofs[p] = Proof(len(l.proofs))
					l.proofs = append(l.proofs, s.name+" "+p.String())
				}
			}
		}
		// Sort snapshots by time, those without a time first, and merge those with the same time. Record files that
		// differ from another file with the same time.
		var merged []snapshot
		var differ [][2]string
		slices.SortStableFunc(f.snapshots, func(a, b snapshot) int { return cmp.Compare(a.time, b.time) })
		for _, s := range f.snapshots {
			slices.SortFunc(s.prefixes, netip.Prefix.Compare)
			s.prefixes = slices.Compact(s.prefixes)
			last := len(merged) - 1
			if last < 0 || merged[last].time != s.time {
				merged = append(merged, s)
				continue
			}
			if s.time != NoTime && !slices.Equal(merged[last].prefixes, s.prefixes) {
				differ = append(differ, [2]string{merged[last].file, s.file})
			}
			both := slices.Concat(merged[last].prefixes, s.prefixes)
			slices.SortFunc(both, netip.Prefix.Compare)
			merged[last].prefixes = slices.Compact(both)
		}

		l.Differ = append(l.Differ, differ...)
		l.lists = append(l.lists, list{})
		// Build the table of the merged snapshots. proofs numbers all of their prefixes.
		l := &l.lists[len(l.lists)-1]
		sets := make([]bart.Lite, len(merged))
		for i, s := range merged {
			for _, p := range s.prefixes {
				sets[i].Insert(p)
			}
			if s.time != NoTime {
				l.times = append(l.times, s.time)
			}
		}
		untimed := len(merged) - len(l.times) // 0 or 1, and the first
		l.rows = make([]row, 1, 1+len(proofs))
		prefixes := make([]valued, 0, len(proofs))
		for p := range proofs {
			r := row{begin: int32(len(l.changes))}
			for i := range merged {
				proof := Proof(0)
				if longest, ok := sets[i].LookupPrefixLPM(p); ok {
					proof = proofs[longest]
				}
				if proof != 0 {
					r.ever = proof
				}
				if i >= untimed && (i == untimed || l.changes[len(l.changes)-1].proof != proof) {
					l.changes = append(l.changes, change{int32(i - untimed), proof})
				}
			}
			r.end = int32(len(l.changes))
			prefixes = append(prefixes, valued{p, int32(len(l.rows))})
			l.rows = append(l.rows, r)
		}
		l.prefixes = newTable(prefixes)
	}
	l.indexSpeakers(g)
}

// indexSpeakers sets the lists and the suffixes of host names for each crawler. The lists must have been built.
func (l *Lists) indexSpeakers(g *gatherer) {
	speakerOf := func(token string) *speaker {
		token = strings.ToLower(token)
		if _, ok := l.byToken[token]; !ok {
			l.byToken[token] = Speaker(len(l.speakers))
			l.speakers = append(l.speakers, speaker{})
		}
		return &l.speakers[l.byToken[token]]
	}
	for i, name := range slices.Sorted(maps.Keys(g.found)) {
		for _, token := range g.found[name].tokens {
			s := speakerOf(token)
			s.lists = append(s.lists, i)
			s.untimed = s.untimed || len(l.lists[i].times) == 0
		}
	}
	for _, c := range crawlers.Set("all") {
		for _, suffix := range c.Hosts {
			s := speakerOf(c.Token)
			s.suffixes = append(s.suffixes, splitLabels(suffix))
		}
	}
}

// Speaker returns the lists for the crawler with a product token, ignoring case. The result is valid even if there are
// none.
func (l *Lists) Speaker(token string) Speaker { return l.byToken[strings.ToLower(token)] }

// Untimed reports whether some list of the crawler has only snapshots without a time. It is then unknown whether an
// address was the operator's at the time of a request.
func (l *Lists) Untimed(s Speaker) bool {
	return l.speakers[s].untimed
}

// Size returns the approximate memory of the lists and the host names, in bytes.
func (l *Lists) Size() int64 {
	const sizeOfRow, sizeOfChange, sizeOfText = 12, 8, 16
	size := int64(0)
	for i := range l.lists {
		list := &l.lists[i]
		size += list.prefixes.size() + int64(cap(list.rows))*sizeOfRow + int64(cap(list.changes))*sizeOfChange
	}
	for _, proof := range l.proofs {
		size += sizeOfText + int64(len(proof)+15)&^15
	}
	if l.hosts != nil {
		size += l.hosts.size()
	}
	return size
}

// Len returns the number of lists; all snapshots of a list count once.
func (l *Lists) Len() int { return len(l.lists) }

// Span returns the times of the oldest and the newest snapshot, in UTC; ok is false if none has a time, and the times
// are then meaningless.
func (l *Lists) Span() (oldest, newest time.Time, ok bool) {
	first, last := int64(math.MaxInt64), int64(NoTime)
	for i := range l.lists {
		for _, t := range l.lists[i].times {
			first, last = min(first, t), max(last, t)
		}
	}
	return time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC(), last != NoTime
}

// Names returns the known names of lists, without extensions, and for each the tokens of its crawlers. The names
// are those under which operators publish, such as "googlebot" or, in a directory, "anthropic/bots", and the tokens
// themselves.
func Names() map[string][]string {
	names := map[string][]string{}
	all := crawlers.Set("all")
	for _, c := range all {
		for _, r := range c.Ranges {
			names[r.Name] = append(names[r.Name], c.Token)
		}
	}
	for _, c := range all {
		name := strings.ToLower(c.Token)
		if _, ok := names[name]; ok || len(c.Names) == 0 {
			continue
		}
		names[name] = []string{c.Token}
		if len(c.Ranges) == 1 { // another name for the only list
			names[name] = names[c.Ranges[0].Name]
		}
	}
	return names
}

// A gatherer finds the files of lists, and reads them.
type gatherer struct {
	names map[string][]string
	found map[string]*foundList
	bytes int64 // read so far
	most  int64 // maximum of bytes; 0 means no limit
	asked []string
	errs  []error
}

// ErrTooLong is the error if the files have more bytes than Options.Bytes.
var ErrTooLong = errors.New("the lists are too large for the memory limit")

// read returns the contents of a file. The error wraps ErrTooLong if the files together have more than g.most bytes.
func (g *gatherer) read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if g.most > 0 {
		r = io.LimitReader(f, g.most-g.bytes+1)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if g.bytes += int64(len(text)); g.most > 0 && g.bytes > g.most {
		g.bytes = g.most
		return nil, fmt.Errorf("%s: %w", name, ErrTooLong)
	}
	return text, nil
}

// gather reads the files for an element of Options.Paths: a file, a directory, or TOKEN=FILE. A file whose name
// contains the "=" takes precedence. Faults are added to g.errs.
func (g *gatherer) gather(p string) {
	if token, file, ok := strings.Cut(p, "="); ok {
		if _, err := os.Stat(p); err != nil { // there is no file with that name
			if token == "" || strings.ContainsFunc(token, unicode.IsSpace) {
				g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %s: %q is not a crawler's product token: write TOKEN=FILE, as in Googlebot=file", p, token))
				return
			}
			g.asked = append(g.asked, token)
			g.readFile(file, token+"="+stem(file), filepath.Base(file), []string{token})
			return
		}
	}
	info, err := os.Stat(p)
	switch {
	case err != nil:
		g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %w", err))
	case info.IsDir():
		files, err := g.gatherBelow(p, maxDepth)
		if err != nil {
			g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %w", err))
		} else if files == 0 {
			g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %s has no file that ends in .json or .txt", p))
		}
	default:
		g.readNamed(p)
	}
}

// maxDepth is the maximum depth of directories, because links may form a cycle.
const maxDepth = 20

// gatherBelow reads the .json and .txt files below a directory, following links, and returns their number. It skips
// names that begin with a dot. depth is the number of levels that may still follow. Faults inside the files are added
// to g.errs; err is that of finding them.
func (g *gatherer) gatherBelow(dir string, depth int) (files int, err error) {
	if depth == 0 {
		return 0, fmt.Errorf("%s: directories are more than %d deep: check for links that form a loop", dir, maxDepth)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return files, err
		}
		switch ext := strings.ToLower(filepath.Ext(name)); {
		case info.IsDir():
			more, err := g.gatherBelow(name, depth-1)
			if files += more; err != nil {
				return files, err
			}
		case ext == ".json" || ext == ".txt":
			files++
			g.readNamed(name)
		}
	}
	return files, nil
}

// stem returns the name of a file without directory and extension, in lower case.
func stem(file string) string {
	base := strings.ToLower(filepath.Base(file))
	return strings.TrimSuffix(base, path.Ext(base))
}

// readNamed reads a file whose name determines its crawlers: the name with that of the directory, such as
// anthropic/bots, or else the name alone. A directory named by a day is skipped. Faults are added to g.errs.
func (g *gatherer) readNamed(file string) {
	abs, err := filepath.Abs(file)
	if err != nil {
		abs = file
	}
	operator := strings.ToLower(filepath.Base(filepath.Dir(abs)))
	if _, err := time.Parse(time.DateOnly, operator); err == nil { // anthropic/2026-08-15/bots.json
		operator = strings.ToLower(filepath.Base(filepath.Dir(filepath.Dir(abs))))
	}
	base := filepath.Base(file)
	name, shown := operator+"/"+stem(file), filepath.Base(filepath.Dir(file))+"/"+base
	if _, ok := g.names[name]; !ok {
		name, shown = stem(file), base
	}
	tokens, ok := g.names[name]
	if !ok {
		names := map[string]bool{}
		for _, c := range crawlers.Set("all") {
			for _, r := range c.Ranges {
				names[r.Name] = true
			}
		}
		g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %s: unknown list name: "+
			"give its crawler with TOKEN=%s, or rename it to one of %s, or to the token of its crawler",
			file, file, strings.Join(slices.Sorted(maps.Keys(names)), ", ")))
		return
	}
	if c, ok := crawlers.Lookup(name); ok && len(c.Ranges) == 1 { // a token: use the name under which the operator publishes
		name = c.Ranges[0].Name
	}
	g.readFile(file, name, shown, tokens)
}

// readFile adds a file to the list with that name. shown is the name of the file in proofs. If the file does not
// contain its time, it is the day that names its directory, if one does. Faults are added to g.errs.
func (g *gatherer) readFile(file, name, shown string, tokens []string) {
	text, err := g.read(file)
	if err != nil {
		g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %w", err))
		return
	}
	s, err := parseList(text)
	if err != nil {
		g.errs = append(g.errs, fmt.Errorf("read lists of addresses: %s: %w", file, err))
		return
	}
	if s.time == NoTime {
		if abs, err := filepath.Abs(file); err == nil {
			if day, err := time.Parse(time.DateOnly, filepath.Base(filepath.Dir(abs))); err == nil {
				s.time = day.UnixMicro()
			}
		}
	}
	s.file, s.name = file, shown
	f := g.found[name]
	if f == nil {
		f = &foundList{tokens: tokens}
		g.found[name] = f
	}
	f.snapshots = append(f.snapshots, s)
}

// A snapshot is the content of a list at one time.
type snapshot struct {
	file     string // where it was read
	name     string // of the file, as verified_by shows it
	time     int64  // microseconds since 1970, or NoTime
	prefixes []netip.Prefix
}

// A list has the addresses that an operator publishes under one name: all of its snapshots, in one table.
//
// The table has every prefix of any snapshot. An address is looked up once: the longest prefix that contains it
// leads to a row. For each snapshot, the row says which of the snapshot's prefixes contains that prefix, and so the
// address.
type list struct {
	times    []int64 // distinct times of the snapshots, ascending
	prefixes table   // its values are indices of rows
	rows     []row   // rows[0] is for addresses that are not in any snapshot
	changes  []change
}

// A row is the answer of all snapshots for the addresses of one prefix, except those in longer prefixes.
type row struct {
	ever       Proof // by any snapshot; the newest one with the prefix
	begin, end int32 // range of changes, ascending by snapshot; the first is at snapshot 0
}

// A change says that from a snapshot on, until the next change, a prefix contains the addresses of the row.
type change struct {
	snapshot int32
	proof    Proof // 0 if no prefix does
}

// proofAt returns the proof by the prefix of a snapshot that contains the addresses of a row; 0 if none does. snapshot
// is an index in times.
func (l *list) proofAt(r *row, snapshot int) Proof {
	changes := l.changes[r.begin:r.end]
	if len(changes) == 0 {
		return 0
	}
	i := len(changes) - 1
	for changes[i].snapshot > int32(snapshot) { // nearly all rows have one or two changes
		i--
	}
	return changes[i].proof
}
