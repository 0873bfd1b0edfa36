package engine

import (
	"bytes"

	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// MaxNamed is the maximum number of crawlers that an [AgentList] numbers separately although only a robots.txt names
// them. Real logs have a few hundred; a hostile log can have any number.
const MaxNamed = 4096

// OtherNamed stands for all crawlers beyond MaxNamed.
const OtherNamed = "(others)"

// An AgentList numbers the crawlers of a run with StoreOptions.LogAgents, for code that counts by crawler. The
// agents of Store.Options come first and keep their numbers. Crawlers that only a robots.txt names follow, in the
// order of the rows; each name has one number. An AgentList is for one goroutine.
type AgentList struct {
	now, old *Lookup
	known    int
	most     int
	names    []string
	numbers  map[string]int
	last     agentOf // the last agent of now that was looked up
	number   int     // the number of last
}

// NewAgentList returns a list of the agents of now's store, with at most the given number of further crawlers that
// only a robots.txt names. old is the Lookup of [Options].Old, or nil. If the new robots.txt does not name the
// crawler, the list uses the name in the old one. Both Lookups must be set to the batch of a row, see [Lookup.Use].
func NewAgentList(now, old *Lookup, most int) *AgentList {
	agents := now.store.opt.Agents
	return &AgentList{now: now, old: old, known: len(agents), most: most, names: agents[:len(agents):len(agents)], numbers: map[string]int{}}
}

// Names returns the names by number.
func (l *AgentList) Names() []string { return l.names }

// Number returns the number of the crawler of a row of b, the batch that the Lookups use. A new name gets the next
// number, or that of OtherNamed if there are too many.
func (l *AgentList) Number(b *Batch, row int) int {
	number, from := b.crawlerOf(row)
	agent, look := int(number), l.now
	if agent < l.known {
		return agent
	}
	if from != b {
		look = l.old
	}
	key := agentOf{from.Rulings[row], agent}
	if look == l.now && key == l.last {
		return l.number
	}
	n := l.numberOf(look.AgentName(key.id, agent))
	if look == l.now {
		l.last, l.number = key, n
	}
	return n
}

// numberOf returns the number of a name. It adds the name if it is new, or OtherNamed if there are too many.
func (l *AgentList) numberOf(name string) int {
	number, ok := l.numbers[name]
	if ok {
		return number
	}
	if len(l.numbers) >= l.most {
		name = OtherNamed
		if number, ok = l.numbers[name]; ok {
			return number
		}
	}
	number = len(l.names)
	l.names = append(l.names, name)
	l.numbers[name] = number
	return number
}

// A Listed says whether a URL is in the sitemaps of StoreOptions.Sitemaps.
type Listed uint8

// The values of Listed.
const (
	ListedUnknown Listed = iota // the URL is bad
	NotListed
	IsListed
)

// A lister looks up URLs in sitemaps. It is for one goroutine.
type lister struct {
	set    *sitemap.Set
	prefix []byte // URL.Prefix of the last URL
	number uint32 // of its origin
	known  bool   // the sitemaps have URLs of this origin
	origin []byte // memory for origins
}

// find returns the index in the sitemaps of the URL with this prefix and normalised path. ok is false if they do not
// list it.
func (l *lister) find(prefix, path []byte) (index int, ok bool) {
	if len(prefix) == 0 || !bytes.Equal(prefix, l.prefix) {
		l.prefix, l.known = append(l.prefix[:0], prefix...), false
		u, err := robots.SplitURL(prefix)
		if err == nil {
			l.origin, err = robots.AppendOrigin(l.origin[:0], u)
		}
		if err == nil {
			l.number, l.known = l.set.Origin(l.origin)
		}
	}
	if !l.known {
		return 0, false
	}
	return l.set.Find(l.number, path)
}

// fillListed fills b.Listed, with StoreOptions.Sitemaps.
func (e *Evaluator) fillListed(b *Batch) {
	set := e.store.opt.Sitemaps
	if set == nil {
		return
	}
	e.lister.set = set
	b.Listed = grown(b.Listed, b.Len())
	for i, site := range b.Sites {
		if b.Listed[i] = ListedUnknown; site == NoSite {
			continue
		}
		b.Listed[i] = NotListed
		path, buf := set.Dialect().Path(e.rawPath(b, i), e.path)
		e.path = buf
		if _, ok := e.lister.find(b.Data[b.URLs[i].Off:e.paths[i]], path); ok {
			b.Listed[i] = IsListed
		}
	}
}
