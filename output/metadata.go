package output

import (
	"encoding/json"
	"slices"

	"github.com/robobatch/robobatch/internal/fieldtext"
)

// The names of the key-value metadata.
const (
	KeyVersion      = "robobatch.version"        // of the program; set by the caller
	KeyDialect      = "robobatch.dialect"        // set by NewWriter
	keyAgents       = "robobatch.agents"         // JSON array, as asked for; set by NewWriter
	keyRulesHash    = "robobatch.rules_hash"     // of the rules' content; set by NewWriter
	keyRulesHashOld = "robobatch.rules_hash_old" // that of Options.Old; set by NewWriter
	KeyInputs       = "robobatch.inputs"         // JSON array; set by NewWriter to the names, by the caller to names and sizes
	KeyCounts       = "robobatch.counts"         // JSON object; set by the caller at the end
	keyRows         = "robobatch.rows"           // rows of the table; set by Close, Parquet only
	keyInvalidUTF8  = "robobatch.invalid_bytes"  // as of InvalidBytes; set by Close, Parquet only
)

// metadataPairs is a list of pairs in the order in which their keys were first set.
type metadataPairs struct{ keys, values []string }

// set adds a pair, in valid UTF-8, or replaces the value of its key.
func (m *metadataPairs) set(key, value string) {
	value = fieldtext.Valid(value)
	for i, k := range m.keys {
		if k == key {
			m.values[i] = value
			return
		}
	}
	m.keys = append(m.keys, key)
	m.values = append(m.values, value)
}

// jsonText returns a list of names as a JSON array.
func jsonText(names []string) string {
	valid := make([]string, len(names))
	for i, name := range names {
		valid[i] = fieldtext.Valid(name)
	}
	b, _ := json.Marshal(valid) // strings always have a form in JSON
	return string(b)
}

// without returns the pairs but for those of the keys.
func (m *metadataPairs) without(keys ...string) (rest metadataPairs) {
	for i, key := range m.keys {
		if !slices.Contains(keys, key) {
			rest.keys, rest.values = append(rest.keys, key), append(rest.values, m.values[i])
		}
	}
	return rest
}
