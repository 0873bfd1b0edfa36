package output

import (
	"encoding/json"
	"time"
)

// A listJSON writes a listing as one JSON object a line, all of them with all columns.
type listJSON struct{ enc *json.Encoder }

func newListJSON(s *sink) *listJSON {
	enc := json.NewEncoder(s)
	enc.SetEscapeHTML(false)
	return &listJSON{enc}
}

// A listObject is a row; the order of the fields is that of the columns.
type listObject struct {
	Origin    string     `json:"origin"`
	Source    *string    `json:"source"`
	URL       *string    `json:"url"`
	Outcome   string     `json:"outcome"`
	Status    *int       `json:"status"`
	Error     *string    `json:"error"`
	FetchedAt *time.Time `json:"fetched_at"`
	Size      *int64     `json:"size"`
	Truncated *bool      `json:"truncated"`
	Item      string     `json:"item"`
	Group     *int32     `json:"group_id"`
	Agents    *string    `json:"agents"`
	Line      *int32     `json:"line"`
	Code      *string    `json:"code"`
	Value     *string    `json:"value"`
}

// add writes a row. Null is what listRow says is.
func (j *listJSON) add(r *listRow) error {
	o := listObject{
		Origin: r.origin, Source: text(r.source), URL: text(r.url), Outcome: r.outcome, Item: r.item,
		Group: number(r.group), Agents: text(r.agents), Line: number(r.line), Code: text(r.code),
	}
	if r.value != nil {
		valid := validString(*r.value)
		o.Value = &valid
	}
	if resp := r.response; resp != nil {
		o.Status, o.Error, o.Size, o.Truncated = number(resp.Status), text(r.reason), &resp.Size, &r.truncated
		if datable(resp.FetchedAt) {
			at := resp.FetchedAt.UTC().Truncate(time.Microsecond)
			o.FetchedAt = &at
		}
	}
	return j.enc.Encode(&o)
}

// datable reports whether a time is known, and one that all formats can hold.
func datable(t time.Time) bool { return !t.IsZero() && 1 <= t.UTC().Year() && t.UTC().Year() <= 9999 }

func (j *listJSON) close() error { return nil }

// text returns a valid text; nil, null, for "".
func text(s string) *string {
	if s == "" {
		return nil
	}
	s = validString(s)
	return &s
}

// number returns a number; nil, null, for 0.
func number[T int | int32](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}
