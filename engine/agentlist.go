package engine

// MaxNamed is the number of crawlers named only in a robots.txt that an [AgentList] distinguishes. Real logs have some
// hundred; a hostile one has as many as it likes.
const MaxNamed = 4096

// OtherNamed stands for the crawlers beyond MaxNamed.
const OtherNamed = "(others)"

// An AgentList numbers the crawlers of a run with StoreOptions.LogAgents, for those who count by
// crawler. The agents of Store.Options come first, as there. Then come those that a robots.txt names,
// in the order of the rows, with one number for each name. It is for one goroutine.
type AgentList struct {
	now, old *Lookup
	known    int
	most     int
	names    []string
	numbers  map[string]int
	last     agentOf // of now, that was asked for
	number   int     // its number
}

// NewAgentList returns the list of the agents of the store of a Lookup, and of at most so many that a
// robots.txt names. old is nil, or the Lookup of [Options].Old: where the robots.txt of now names no
// crawler, the one that the old robots.txt names counts. They must be used for the batch of a row.
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

// numberOf returns the number of a name.
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
