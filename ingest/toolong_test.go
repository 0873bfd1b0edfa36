package ingest

import (
	"errors"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// TestLongLines checks that the error mentions overlong lines instead of the format, if no line is read because most
// are overlong.
func TestLongLines(t *testing.T) {
	long := `{"url":"https://a.example/","x":"` + strings.Repeat("x", MaxLine) + "\"}\n"
	for _, test := range []struct {
		name, text string
		want       error
	}{
		{"long", long + long, ErrLongLines},
		{"most long", long + "x\n" + long, ErrLongLines},
		{"half long", long + "x\n", ErrNotFormat},
		{"other lines", "x\n", ErrNotFormat},
		{"a row", long + "{\"url\":\"https://a.example/b\"}\n", nil},
	} {
		l, err := OpenLogs([]string{"-"}, LogOptions{Format: weblog.JSON, Stdin: strings.NewReader(test.text)})
		if err != nil {
			t.Fatal(err)
		}
		for b := (engine.Batch{}); l.Next(&b); {
		}
		if err := l.Err(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
