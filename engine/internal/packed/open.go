package packed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A DialectError says that a pack was compiled for another dialect, or for other options of the dialect, see
// engine.PackDialectError.
type DialectError struct {
	Compiled, Asked robots.Dialect // without the flags that concern only URLs
}

// Error names both dialects.
func (e *DialectError) Error() string {
	return fmt.Sprintf("it was compiled for the dialect %s, not %s: use that dialect, or compile it again",
		dialectText(e.Compiled), dialectText(e.Asked))
}

// dialectText returns the name of a dialect and of its options that change compiled rules.
func dialectText(d robots.Dialect) string {
	var options []string
	for _, o := range []struct {
		flag robots.Dialect
		name string
	}{
		{robots.WideTokens, "wide tokens"},
		{robots.EmptyAllowIgnored, "empty Allow ignored"},
	} {
		if d.Has(o.flag) {
			options = append(options, o.name)
		}
	}
	if len(options) == 0 {
		return d.String()
	}
	return d.String() + " with " + strings.Join(options, " and ")
}

// Options say how to open a pack.
type Options struct {
	rules.Options       // Dialect must be that of the pack, except for URLFlags
	MaxMemory     int64 // limit for a run in bytes; 0 or less means no limit
	Reserved      int64 // bytes of it that the run takes besides rules and their index; 0 means 96 MiB

	// NewCache returns the cache for the rules of a number of texts under a limit; nil means the default cache.
	NewCache func(bytes, texts int64) Cache
}

// Open opens the named pack. Errors wrap errors of package pack, are a [*DialectError], or come from package os.
func Open(name string, opt Options) (rules.Store, error) {
	file, err := pack.OpenFile(name, opt.MaxMemory <= 0)
	if err != nil {
		return nil, fmt.Errorf("read the rule pack %s: %w", name, err)
	}
	s, err := newStore(name, file, opt)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the rule pack %s: %w", name, err), file.Close())
	}
	return s, nil
}

// OpenFile is like [Open], for a pack in an open file, which may be unlinked. Closing the Store closes the file;
// after an error the file stays open.
func OpenFile(f *os.File, opt Options) (rules.Store, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the rule pack %s: %w", f.Name(), err)
	}
	file, err := pack.Open(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read the rule pack %s: %w", f.Name(), err)
	}
	s, err := newStore(f.Name(), file, opt)
	if err != nil {
		return nil, fmt.Errorf("read the rule pack %s: %w", f.Name(), err)
	}
	return s, nil
}

// newStore returns the Store of a pack. Only this function chooses the type of Store. name is for errors. After an
// error the file stays open.
func newStore(name string, file *pack.Reader, opt Options) (rules.Store, error) {
	l, err := newLoader(name, file, opt.Options)
	switch {
	case err != nil:
		return nil, err
	case opt.MaxMemory > 0:
		apart := cmp.Or(opt.Reserved, runMemory) + file.IndexSize() + siteSize*int64(file.Sites())
		s := &limited{loader: l, ids: make([]atomic.Uint32, file.Sites()), apart: apart, room: max(opt.MaxMemory-apart, MinRoom)}
		if opt.NewCache == nil {
			opt.NewCache = func(bytes, texts int64) Cache { return newCache(bytes, texts) }
		}
		s.cache = opt.NewCache(fraction(s.room, cachePart), int64(file.Texts()))
		return s, nil
	}
	return &growing{l, newPointers[site](file.Sites()), newPointers[rules.Ruling](file.Texts())}, nil
}

// A loader reads the sites and texts of a pack, and keeps none of them. It is safe for concurrent use.
type loader struct {
	rules.Options
	name    string
	file    *pack.Reader
	inForce int
	hash    string
	odd     rules.Odd

	fixed   []*rules.Ruling // by RulingID, see rules.FixedRulings
	broken  *rules.Ruling   // for texts that fail to load
	buffers sync.Pool
	failure atomic.Pointer[error]

	loads   atomic.Int64    // number of loaded texts, with repetitions
	counted []atomic.Uint64 // bit set of the texts included in memory and size
	mu      sync.Mutex
	memory  rules.Memory
	size    int64 // bytes of the counted texts
}

// A buffer is the memory for one load.
type buffer struct {
	record   pack.Buffer
	resolver *resolver
	text     []byte
	rules    []byte
}

// newLoader returns a loader for a pack. If the pack's dialect is not that of opt, the error is a [DialectError]. For
// another moment than the newest, it reads all sites of the pack.
func newLoader(name string, file *pack.Reader, opt rules.Options) (*loader, error) {
	summary := file.Summary()
	if compiled := robots.Dialect(summary.Dialect); compiled != opt.Dialect&^URLFlags {
		return nil, &DialectError{Compiled: compiled, Asked: opt.Dialect &^ URLFlags}
	}
	l := &loader{
		Options: opt, name: name, file: file, inForce: int(summary.InForce),
		fixed:   rules.FixedRulings(len(opt.Agents)),
		broken:  rules.SameVerdict(rules.Verdict{Rule: rules.NoRule, Reason: rules.ReasonNoRobots, Access: rules.Unknown}, len(opt.Agents)),
		counted: make([]atomic.Uint64, (file.Texts()+63)/64),
	}
	l.Fail = l.fail
	l.Misread.SetTexts(file.Texts())
	var err error
	if l.odd, err = readOdd(file); err != nil {
		return nil, err
	}
	sum := summary.Hash
	if l.Moment.Rows || !l.Moment.At.IsZero() {
		if sum, l.inForce, err = hashRulings(context.Background(), file, opt.Dialect, l.Moment); err != nil {
			return nil, err
		}
	}
	l.hash = rules.HashText(sum)
	l.buffers.New = func() any { return &buffer{resolver: newResolver(file, opt.Dialect, l.Moment)} }
	return l, nil
}

func (l *loader) NumSites() int      { return l.file.Sites() }
func (l *loader) InForce() int       { return l.inForce }
func (l *loader) Hash() string       { return l.hash }
func (l *loader) Odd() rules.Odd     { return l.odd }
func (l *loader) Notes() []byte      { return l.file.Notes() }
func (l *loader) Texts() int         { return l.file.Texts() }
func (*loader) Enough() int64        { return 0 }
func (*loader) Common() []*rules.Set { return nil }

func (l *loader) Memory() rules.Memory {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.memory
}

// Err returns the first error.
func (l *loader) Err() error {
	if err := l.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail keeps the first error.
func (l *loader) fail(err error) {
	err = fmt.Errorf("read the rule pack %s: %w", l.name, err)
	l.failure.CompareAndSwap(nil, &err)
}

// candidates returns the range of numbers, lo to hi, of the sites that may have the origin. After an error it is
// empty.
func (l *loader) candidates(origin []byte) (lo, hi uint32) {
	lo, hi, err := l.file.Candidates(pack.Site, origin)
	if err != nil {
		l.fail(err)
		return 0, 0
	}
	return lo, hi
}

// A site holds the rules in force for an origin.
type site struct {
	origin  robots.Origin
	id      rules.RulingID
	periods []rules.Period // see rules.Reader
	newest  int64          // see rules.Reader
}

// brokenSite stands for a site that failed to load.
var brokenSite = &site{id: rules.NoRobots, periods: []rules.Period{{ID: rules.NoRobots}}}

// loadSite loads a site. If known is its ruling, other than NoRuling and Dated, the site has only its origin and this
// ruling; otherwise it finds the ruling and the periods. After an error it returns brokenSite.
func (l *loader) loadSite(number uint32, known rules.RulingID) *site {
	b := l.buffers.Get().(*buffer)
	defer l.buffers.Put(b)
	record, err := b.record.Read(l.file, pack.Site, number)
	if err != nil {
		l.fail(err)
		return brokenSite
	}
	s := &site{origin: robots.Origin(record.Name), id: known}
	if known != rules.NoRuling && known != rules.Dated {
		return s
	}
	periods, err := b.resolver.periods(record, s.origin)
	if err != nil {
		l.fail(err)
		return brokenSite
	}
	if s.id, s.periods = rules.SiteRuling(periods); s.periods != nil {
		s.newest = robots.Microseconds(b.resolver.history.NewestOf(s.origin))
	}
	return s
}
