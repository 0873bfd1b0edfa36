package summary

import (
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/output"
)

// Asked are the flags that change values of rows, as they were given. They stand in -stats and
// in the metadata of the output.
type Asked struct {
	Missing string `json:"missing"`
	URLAsIs bool   `json:"url_as_is"`
	Limit   int64  `json:"limit"` // 0 is none

	AgentFromLog  bool   `json:"agent_from_log"`
	UnknownAgents string `json:"unknown_agents"`          // "" without AgentFromLog
	CrawlersHash  string `json:"crawlers_hash"`           // of the file of -crawlers; "" without it
	Cache         string `json:"cache"`                   // "" is 24h, see engine.StoreOptions
	RangesHash    string `json:"ranges_hash"`             // of the files of -ranges and -hosts; "" without them
	RangesAge     string `json:"ranges_age"`              // "" without them
	SitemapsHash  string `json:"sitemaps_hash,omitempty"` // of the URLs of -in-sitemap; "" without it
	Layout        string `json:"layout"`
	Where         string `json:"where"`              // "" is all rows
	Timezone      string `json:"timezone,omitempty"` // whose days a page and -partition-by date have; "" is UTC
	Reading
	InputForm
}

// A Reading is the flags that say how robots.txt is read, and which captures count.
type Reading struct {
	Dialect    string `json:"-"` // the record has its own
	AgentChars string `json:"agent_chars"`
	EmptyAllow string `json:"yandex_empty_allow"`
	AsOf       string `json:"as_of"` // "" is the newest capture, AsOfLog those in force at each row's time
}

// An InputForm is the flags that describe the lines of the logs.
type InputForm struct {
	Format string   `json:"format"`
	Base   string   `json:"base"`
	Field  []string `json:"field"` // role=name
	Keep   []string `json:"keep"`

	ClientAt int `json:"client_at"` // 1 is the first of several addresses, -1 the last; 0 is not said
}

// Describe puts the flags into the output's metadata.
func (a *Asked) Describe(f *output.File) {
	for _, entry := range []struct {
		key, value string
		asked      bool
	}{
		{"missing", a.Missing, true},
		{"url_as_is", strconv.FormatBool(a.URLAsIs), true},
		{"limit", strconv.FormatInt(a.Limit, 10), true},
		{"layout", a.Layout, true},
		{"where", a.Where, a.Where != ""},
		{"agent_from_log", "true", a.AgentFromLog},
		{"unknown_agents", a.UnknownAgents, a.AgentFromLog},
		{"crawlers_hash", a.CrawlersHash, a.CrawlersHash != ""},
		{"cache", a.Cache, a.Cache != ""},
		{"ranges_hash", a.RangesHash, a.RangesHash != ""},
		{"ranges_age", a.RangesAge, a.RangesHash != ""},
		{"sitemaps_hash", a.SitemapsHash, a.SitemapsHash != ""},
		{"timezone", a.Timezone, a.Timezone != ""},
	} {
		if entry.asked {
			f.SetMetadata("robobatch."+entry.key, entry.value)
		}
	}
	for _, pair := range slices.Concat(a.Metadata(), a.metadata()) {
		f.SetMetadata(pair[0], pair[1])
	}
}

// Metadata returns the flags, but for the dialect, as metadata of an output.
func (r *Reading) Metadata() [][2]string {
	return [][2]string{
		{"robobatch.agent_chars", r.AgentChars},
		{"robobatch.yandex_empty_allow", r.EmptyAllow},
		{"robobatch.as_of", r.AsOf},
	}
}

// metadata returns the form as metadata of an output.
func (f *InputForm) metadata() [][2]string {
	at := ""
	if f.ClientAt != 0 {
		at = strconv.Itoa(f.ClientAt)
	}
	return [][2]string{
		{"robobatch.format", f.Format},
		{"robobatch.base", f.Base},
		{"robobatch.field", strings.Join(f.Field, ",")},
		{"robobatch.client_at", at},
		{"robobatch.keep", strings.Join(f.Keep, ",")},
	}
}

// AsOfLog is the value of -as-of that decides each row by the captures in force at its time.
const AsOfLog = "log"

// ByRow reports whether each row is decided by the captures in force at its time.
func (r *Reading) ByRow() bool { return r.AsOf == AsOfLog }
