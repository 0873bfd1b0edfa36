package engine

// MaxNamed is the maximum number of crawlers that an [AgentList] tells apart although only a robots.txt names them.
// Real logs have a few hundred; a hostile log can have any number.
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

// NewAgentList returns a list of the agents of now's store, with at most so many more that only a robots.txt names.
// old is the Lookup of [Options].Old, or nil. If the new robots.txt does not name the crawler, the list uses the
// name in the old one. Both Lookups must be set to the batch of a row, see [Lookup.Use].
func NewAgentList(now, old *Lookup, most int) *AgentList {
	agents := now.store.opt.Agents
	return &AgentList{now: now, old: old, known: len(agents), most: most, names: agents[:len(agents):len(agents)], numbers: map[string]int{}}
}

// Names returns the names by number.
func (l *AgentList) Names() []string { return l.names }

// Number returns the number of the crawler of a row.
func (l *AgentList) Number(b *Batch, row int) int {
	number, from := b.crawler(row)
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

// numberOf returns the number of a name, and adds the name if it is new.
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
