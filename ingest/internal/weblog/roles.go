package weblog

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/engine"
)

// A role is the meaning of a field.
type role uint8

const (
	roleNone role = iota // without a role
	roleHost
	roleClient
	roleURL // a URL, or a path with its query
	roleRequest
	roleScheme
	rolePort
	rolePath
	roleQuery
	roleMethod
	roleProtocol
	roleStatus
	roleBytes
	roleTime
	roleForwarded
	roleAgent
	roleReferer
	roleUser
	roleDate
	roleClock
	rolePeer // a field with this role, or one below, cannot have a role above
	roleMachine
	roleFile
	roleRoute
	roleSNI
	rolePhrase
	roleLogTime
	roleOtherStatus
	roleOtherBytes
	numRoles = int(iota)
)

// roleWords are the names of roles in -field and in fields.tsv.
var roleWords = [numRoles]string{
	"", "host", "client", "url", "request", "scheme", "port", "path", "query", "method", "protocol", "status", "bytes", "time", "forwarded",
	"agent", "referer", "user", "date", "clock", "peer", "machine", "file", "route", "sni", "phrase", "logtime", "otherstatus", "otherbytes",
}

// Names of fields that mean the same in every format. [Options].Keep accepts them in addition to the format's own
// names.
const (
	NameTime     = "time"
	NameClient   = "client"
	NameMethod   = "method"
	NameHost     = "host"
	NameProtocol = "protocol"
	NameStatus   = "status"
	NameBytes    = "bytes"
	NameReferer  = "referer"
	NameAgent    = "user_agent"
	NameUser     = "user"
)

// roleNames are the names by which fields with a role can be kept; other fields keep the name in their pattern.
var roleNames = [numRoles]string{
	roleHost: NameHost, roleMethod: NameMethod, roleProtocol: NameProtocol, roleStatus: NameStatus, roleBytes: NameBytes,
	roleTime: NameTime, roleClient: NameClient, roleAgent: NameAgent, roleReferer: NameReferer, roleUser: NameUser,
}

// Names returns the names that mean the same in every format, with the kinds of their values.
func Names() map[string]engine.KeptKind {
	kinds := map[string]engine.KeptKind{}
	for r, name := range roleNames {
		if name != "" {
			kinds[name] = kindOf(role(r))
		}
	}
	return kinds
}

// kindOf returns the kind of the values of a role.
func kindOf(r role) engine.KeptKind {
	switch r { //nolint:exhaustive // all others are texts
	case roleTime, roleDate, roleLogTime:
		return engine.KeptTime
	case roleStatus, roleBytes:
		return engine.KeptInt
	}
	return engine.KeptText
}

// KindOf returns the kind of the values of a field: that in [Names], also for other names with the same meaning. It is
// KeptText for other fields.
func KindOf(field string) engine.KeptKind {
	if r := keptRole(field); r != roleNone {
		return kindOf(r)
	}
	for _, e := range entriesOf(field, "") {
		return kindOf(e.role)
	}
	return engine.KeptText
}

// keptRole returns the role of a name that means the same in every format.
func keptRole(name string) role {
	if i := slices.Index(roleNames[:], name); i > 0 && name != "" {
		return role(i)
	}
	return roleNone
}

// Roles returns the roles that fields can be named for.
func Roles() []string { return roleWords[1:rolePeer] }

// anyProducer is the producer of names that any program may use.
const anyProducer = "*"

// An entry is a row of fields.tsv: the meaning of a name in the logs of a producer.
type entry struct {
	producer, name, unit string
	key                  string // of name
	role                 role
	rank                 int      // if a producer has several names for the role, the name with the lowest rank counts first
	marks                []string // see producerOf
	agreed               bool     // the first entry with its key, if all of them have the same role
}

//go:embed fields.tsv
var fieldsTable string

// A tableOfFields has the rows of fields.tsv, in order and by key.
type tableOfFields struct {
	all   []entry
	byKey map[string][]*entry
}

var fieldTable = sync.OnceValue(func() (t tableOfFields) {
	for line := range strings.Lines(fieldsTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rank, err := strconv.Atoi(f[3])
		if err != nil { // the header row
			continue
		}
		t.all = append(t.all, entry{f[0], f[1], f[4], keyOf(f[1]), role(slices.Index(roleWords[:], f[2])), rank, strings.Fields(f[5]), false})
	}
	t.byKey = make(map[string][]*entry, len(t.all))
	for i := range t.all {
		k := t.all[i].key
		t.byKey[k] = append(t.byKey[k], &t.all[i])
	}
	for _, all := range t.byKey {
		all[0].agreed = !slices.ContainsFunc(all, func(e *entry) bool { return e.role != all[0].role })
	}
	return t
})

// A KnownField is a field name that is known for a role.
type KnownField struct{ Role, Producer, Name string }

// KnownFields yields the known field names by role, beginning with those of any program.
func KnownFields() iter.Seq[KnownField] {
	return func(yield func(KnownField) bool) {
		for r := roleHost; r < rolePeer; r++ {
			for _, e := range fieldTable().all {
				producer := e.producer
				if producer == anyProducer {
					producer = "any program"
				}
				if e.role == r && !yield(KnownField{roleWords[r], producer, e.name}) {
					return
				}
			}
		}
	}
}

// keyOf returns the key by which names are compared: in lower case, without spaces, hyphens, underscores and
// parentheses.
func keyOf(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_() ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// entriesOf returns the entries of a name: those of the producer, otherwise those of any program, otherwise those of
// other producers if they all have the same role. Their encodings may differ.
func entriesOf(name, producer string) []*entry {
	all := fieldTable().byKey[keyOf(name)]
	for _, of := range []string{producer, anyProducer} {
		var rows []*entry
		for _, e := range all {
			if e.producer == of {
				rows = append(rows, e)
			}
		}
		if rows != nil {
			return rows
		}
	}
	if len(all) == 0 || !all[0].agreed {
		return nil
	}
	one := *all[0]
	one.unit = ""
	return []*entry{&one}
}

// producerOf returns the producer of records with these keys: the one with the most marks and, among equals, the most
// known names. "x" marks a name that suffices, "x:a" names that must all exist, and "-name" a name that must not.
func producerOf(has map[string]bool) string {
	best, most := "", 0
	for producer, names := range producers() {
		marks, all := 0, 0
		groups := map[string]int{} // number of existing names of a group; negative if one is missing
		for _, e := range names {
			here := has[e.key]
			if here {
				all++
			}
			for _, mark := range e.marks {
				switch {
				case mark[0] == '-' && has[keyOf(mark[1:])]:
					marks = -2 * len(names)
				case mark[0] == '-', mark == "x" && !here:
				case here:
					groups[mark]++
				default:
					groups[mark] = -len(names)
				}
			}
		}
		for _, n := range groups {
			marks += max(0, n)
		}
		if score := marks<<10 + all; marks > 0 && (score > most || score == most && producer < best) {
			best, most = producer, score
		}
	}
	return best
}

// producers are the entries by producer.
var producers = sync.OnceValue(func() map[string][]*entry {
	by := map[string][]*entry{}
	for i := range fieldTable().all {
		e := &fieldTable().all[i]
		by[e.producer] = append(by[e.producer], e)
	}
	return by
})

// isURLName reports whether a name is known for the URL of a request.
func isURLName(name string) bool {
	return slices.ContainsFunc(entriesOf(name, ""), func(e *entry) bool { return e.role.isTarget() })
}

// isTarget reports whether fields with the role contain a URL or its path.
func (r role) isTarget() bool { return r == roleURL || r == roleRequest || r == rolePath }
