package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// A Row is a finding. Its sentence and remedy are derived from the other fields.
type Row struct {
	Code       string    `json:"code"`
	Class      string    `json:"class"`       // A: certain, B: probable, C: suspected
	Severity   float64   `json:"severity"`    // lost requests of search crawlers, weighted
	Ongoing    bool      `json:"ongoing"`     // lasts until the end of the log
	Agents     []string  `json:"agents"`      // empty means all clients
	AgentsMore int       `json:"agents_more"` // number of agents that are not listed
	Origin     string    `json:"origin"`      // "" means all origins
	Path       string    `json:"path"`        // "" means all paths
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Begins     string    `json:"begins"`   // known, or log_start
	Ends       string    `json:"ends"`     // known, or log_end
	Requests   int64     `json:"requests"` // requests of Agents in the time range
	Of         int64     `json:"of"`       // total for the share; 0 means none
	Evidence   Evidence  `json:"evidence"`
	Effects    []Effect  `json:"effects"`
	Remedy     Remedy    `json:"remedy"`
	Sentence   string    `json:"sentence"`
	When       string    `json:"-"` // "Since 3 Oct 20:41"

	lost    float64   // lost requests of search crawlers
	also    []string  // other affected crawlers that the row does not name
	refused []refusal // of crawler_refused
	whole   bool      // lasts the whole log
	mixed   bool      // many other status codes besides the most frequent one
	unsure  bool      // no address verifies that a client was what it claims to be
}

// Evidence holds the data behind a row. Fields that do not apply to its code are 0.
type Evidence struct {
	Status     int     `json:"status,omitempty"`          // the most frequent one
	Fetches    int64   `json:"fetches,omitempty"`         // requests for robots.txt in the time range
	Expected   float64 `json:"expected,omitempty"`        // requests expected of the agents in the time range
	Made       int64   `json:"made,omitempty"`            // actual requests of the agents in the time range
	Before     float64 `json:"before,omitempty"`          // requests per day
	After      float64 `json:"after,omitempty"`           // the same
	Crawlers   int64   `json:"by_crawlers,omitempty"`     // the part of Requests by crawlers
	URLs       int64   `json:"urls,omitempty"`            // distinct
	Paths      int64   `json:"paths,omitempty"`           // distinct
	Line       int     `json:"line,omitempty"`            // line of the text
	Rule       string  `json:"rule,omitempty"`            // in that line
	Size       int64   `json:"size,omitempty"`            // bytes that were sent
	TextSize   int64   `json:"text_size,omitempty"`       // size of the text in force
	Share      float64 `json:"share,omitempty"`           // Requests divided by Of, or by what the code names
	Visitors   int64   `json:"by_visitors,omitempty"`     // requests of unidentified clients
	Delay      float64 `json:"crawl_delay,omitempty"`     // seconds
	Chain      string  `json:"chain,omitempty"`           // shapes of paths
	Parameter  string  `json:"parameter,omitempty"`       // its name
	Network    string  `json:"network,omitempty"`         // network with most of the requests
	TextChange string  `json:"text_changed_at,omitempty"` // change of the text within the previous 24 hours
	Bytes      int64   `json:"bytes,omitempty"`           // bytes sent to the agents
	AllBytes   int64   `json:"all_bytes,omitempty"`       // bytes sent to all clients
	Unaffected int     `json:"unaffected,omitempty"`      // search crawlers of the log
	Crawler    string  `json:"crawler,omitempty"`         // the crawler to which Share, Before, or Expected and Made refer
	Kind       string  `json:"kind,omitempty"`            // in words
}

// An Effect is a row that follows from another.
type Effect struct {
	Code     string    `json:"code"`
	Agents   []string  `json:"agents"`
	Path     string    `json:"path"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Requests int64     `json:"requests"`
}

// A Remedy is what to do. Pattern is the pattern of a rule; "" means none. Text has the complete groups that contain
// the rule, or from which the rule was removed.
type Remedy struct {
	Action  string `json:"action"`
	Pattern string `json:"pattern"`
	Text    string `json:"text"`
	Tried   int    `json:"tried"` // number of URLs of the log on which it was tested

	Examples []string `json:"-"` // URLs without origin that Pattern must close, one per directory
}

// newRow returns a row about the requests n of crawlers, with their time range. An empty origin or path means all.
func (g *grid) newRow(code, origin, path string, n count, agents ...uint16) Row {
	r := Row{Code: code, Origin: origin, Path: path, From: timeOf(n.first), To: timeOf(n.last), Requests: int64(n.n)}
	for _, a := range agents {
		r.Agents = append(r.Agents, g.Agents[a].Name)
	}
	return r
}

// timeOf converts seconds since 1970 to a time.
func timeOf(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// completeRow fills in the fields that follow from others. It lowers the class of a row that names crawlers if no
// address verifies any of them. Its statuses, sizes and URLs remain certain, but the clients' identity does not, and
// the sentence says so. If the operator publishes addresses, the row becomes suspected. If not, the identity cannot be
// checked, and the class stays, except for an accusation of ignoring Crawl-delay. A site that refuses or fails all
// clients with a name also does so to the crawler, and that all crawlers stop at once does not depend on names.
func (g *grid) completeRow(r *Row) {
	r.Class = cmp.Or(r.Class, classes[r.Code], "A")
	r.whole = float64(r.To.Unix()-r.From.Unix()) >= wholeLog*float64(g.to-g.from) && r.Code != CrawlerStopped && r.Code != CrawlerSlowed // what was before them matters
	r.Begins, r.Ends = "known", "known"
	edge := min(max(g.step, (g.to-g.from)/50), 2*hour)
	if slices.Index(Codes, r.Code) > slices.Index(Codes, CrawlerSurge) { // rare events may occur again
		edge = max(edge, 3*r.duration()/max(1, r.Requests))
	}
	if r.whole || r.From.Unix()-g.from < g.step {
		r.Begins = "log_start"
	}
	if r.whole || r.Ongoing || g.to-r.To.Unix() < edge {
		r.Ends, r.Ongoing = "log_end", true
	}
	switch {
	case r.Begins == "log_start" && r.Ends == "log_end":
		r.When = "During the whole log of " + formatDuration(g.to-g.from)
	case r.Ongoing:
		r.When = "Since " + g.formatTime(r.From)
	case r.Begins == "log_start":
		r.When = "Until " + g.formatTime(r.To)
	default:
		r.When = "From " + g.formatTime(r.From) + " to " + g.formatTime(r.To) + " (" + formatDuration(r.duration()) + ")"
	}
	if r.Agents == nil {
		r.Agents = []string{}
	}
	if r.Effects == nil {
		r.Effects = []Effect{}
	}
	if r.Of > 0 && r.Evidence.Share == 0 {
		r.Evidence.Share = rounded(float64(r.Requests) / float64(r.Of))
	}
	isListed, isVerified := false, false
	for _, a := range g.agentNumbers(r) {
		isListed, isVerified = isListed || g.Agents[a].Listed, isVerified || g.Agents[a].Verified
	}
	switch {
	case isVerified || len(r.Agents) == 0 || r.Evidence.Kind == allStopped || slices.Contains(nameless, r.Code):
		return
	case r.Code == CrawlerRefused || r.Code == ServerErrors:
		r.Class = "B"
	case isListed || r.Code == DelayIgnored:
		r.Class = "C"
	}
	r.unsure = true
}

// rounded rounds a number to four decimal places.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// Certainty describes the class of a row.
func (r *Row) Certainty() string {
	return map[string]string{"A": "certain", "B": "probable", "C": "suspected"}[r.Class]
}

// Facts returns the evidence of a row, one text per field.
func (r *Row) Facts() (all []string) {
	for i := range reflect.TypeFor[Evidence]().NumField() {
		if name, value := r.Evidence.fieldText(i); !reflect.ValueOf(r.Evidence).Field(i).IsZero() {
			all = append(all, strings.ReplaceAll(name, "_", " ")+" "+value)
		}
	}
	return all
}

// fieldText returns the name in JSON and the formatted value of a field, given by its index.
func (e *Evidence) fieldText(field int) (name, value string) {
	v := reflect.ValueOf(*e)
	name, _, _ = strings.Cut(v.Type().Field(field).Tag.Get("json"), ",")
	switch v = v.Field(field); {
	case name == "share":
		return name, show.Percent(e.Share)
	case v.Kind() == reflect.Int64:
		return name, show.Number(v.Int())
	}
	return name, fmt.Sprint(v.Interface())
}

// setStatus sets the status of a row to the most frequent one of these responses, and notes whether there are many
// others.
func (r *Row) setStatus(statuses map[uint16]float64) {
	status, all := mode(statuses), 0.
	for _, n := range statuses {
		all += n
	}
	r.Evidence.Status, r.mixed = int(status), statuses[status] < oneStatus*all
}

// HasTime reports whether the sentence of a row has a time.
func (r *Row) HasTime() bool {
	return !slices.Contains([]string{ParameterCrawl, SoftNotFound, BytesHog, EndlessURLs, RedirectChain, DelayIgnored, SitemapBad}, r.Code)
}

// agentsOf returns the names of the crawlers in by: search crawlers first, then by number of requests.
func (g *grid) agentsOf(by map[uint16]float64) (names []string) {
	all := slices.DeleteFunc(g.crawlers(), func(a uint16) bool { return by[a] == 0 })
	slices.SortFunc(all, func(a, b uint16) int {
		return cmp.Or(cmp.Compare(bit(g.Agents[b].Search), bit(g.Agents[a].Search)), cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	for _, a := range all {
		names = append(names, g.Agents[a].Name)
	}
	return names
}

// agentNumbers returns the numbers of the crawlers that a row names.
func (g *grid) agentNumbers(r *Row) []uint16 {
	return slices.DeleteFunc(g.crawlers(), func(a uint16) bool { return !slices.Contains(r.Agents, g.Agents[a].Name) })
}

// duration returns the length of a row's time range in seconds, at least 1.
func (r *Row) duration() int64 { return max(1, r.To.Unix()-r.From.Unix()) }

// sharedSeconds returns the number of seconds that the time ranges of two rows have in common.
func sharedSeconds(a, b *Row) float64 {
	return max(0, float64(min(a.To.Unix(), b.To.Unix())-max(a.From.Unix(), b.From.Unix())))
}
