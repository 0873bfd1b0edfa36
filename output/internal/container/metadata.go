package container

import (
	"encoding/json"
	"slices"

	"github.com/robobatch/robobatch/internal/fieldtext"
)

// The names of the key-value metadata.
const (
	KeyVersion      = "robobatch.version"        // of the program; set by the caller
	KeyDialect      = "robobatch.dialect"        // set by NewWriter
	KeyAgents       = "robobatch.agents"         // JSON array, as asked for; set by NewWriter
	KeyRulesHash    = "robobatch.rules_hash"     // of the rules' content; set by NewWriter
	KeyRulesHashOld = "robobatch.rules_hash_old" // the hash of Options.Old; set by NewWriter
	KeyPreferences  = "robobatch.preferences"    // the revision of preferences, if columns have them; set by NewWriter
	KeyInputs       = "robobatch.inputs"         // JSON array; set by NewWriter to the names, by the caller to names and sizes
	KeyCounts       = "robobatch.counts"         // JSON object; set by the caller at the end
	KeyRows         = "robobatch.rows"           // rows of the table; set by Close, Parquet only
	KeyInvalidUTF8  = "robobatch.invalid_bytes"  // as of InvalidBytes; set by Close, Parquet only
)

// Metadata is a list of pairs in the order of the first setting of their keys.
type Metadata struct{ Keys, Values []string }

// Set adds a pair, in valid UTF-8, or replaces the value of its key.
func (m *Metadata) Set(key, value string) {
	value = fieldtext.Valid(value)
	for i, k := range m.Keys {
		if k == key {
			m.Values[i] = value
			return
		}
	}
	m.Keys = append(m.Keys, key)
	m.Values = append(m.Values, value)
}

// JSONText returns a list of names as a JSON array.
func JSONText(names []string) string {
	valid := make([]string, len(names))
	for i, name := range names {
		valid[i] = fieldtext.Valid(name)
	}
	b, _ := json.Marshal(valid) // strings always have a form in JSON
	return string(b)
}

// Without returns the pairs but for the pairs of the keys.
func (m *Metadata) Without(keys ...string) (rest Metadata) {
	for i, key := range m.Keys {
		if !slices.Contains(keys, key) {
			rest.Keys, rest.Values = append(rest.Keys, key), append(rest.Values, m.Values[i])
		}
	}
	return rest
}
