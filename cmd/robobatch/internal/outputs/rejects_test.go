package outputs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// rejectBatch returns a batch with a good row, a bad row, and two rejected lines, one before and one after the bad
// row.
func rejectBatch() *engine.Batch {
	b := &engine.Batch{Data: []byte("http://a/\xffx\"y\""), Input: 1, Refused: 2}
	b.URLs = []engine.Span{{Off: 0, Len: 9}, {Off: 9, Len: 1}}
	b.Lines, b.Offsets = []int64{1, 5}, []int64{0, 40}
	b.Raws = b.URLs
	b.Sites = []engine.SiteID{0, engine.NoSite}
	b.Rulings = []engine.RulingID{0, 0}
	b.Rejects = []engine.Reject{
		{Line: 3, Offset: 20, Raw: engine.Span{Off: 10, Len: 4}, Reason: "quote"},
		{Line: 9, Offset: 90, Raw: engine.NoURL, Reason: "too_long"},
	}
	return b
}

func TestRejectFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	r, err := CreateRejects(name, []string{"a.log", "b\xff.log"})
	if err != nil {
		t.Fatal(err)
	}
	b := rejectBatch()
	if n := CountRejects(b); n != 3 {
		t.Errorf("%d rejects, want 3", n)
	}
	if err := errors.Join(r.Write(b), r.Commit(), r.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	const want = `{"input":"b%FF.log","line":3,"offset":20,"reason":"quote","raw":"x\"y\""}
{"input":"b%FF.log","line":5,"offset":40,"reason":"bad_url","raw_b64":"/w=="}
{"input":"b%FF.log","line":9,"offset":90,"reason":"too_long"}
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// A file that is closed first leaves nothing.
func TestRejectFileDropped(t *testing.T) {
	dir := t.TempDir()
	r, err := CreateRejects(filepath.Join(dir, "r.jsonl"), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Write(rejectBatch()), r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := CreateRejects(filepath.Join(dir, "none", "r.jsonl"), nil); !errors.Is(err, atomicfile.ErrNoDirectory) {
		t.Errorf("without its directory: %v", err)
	}
}
