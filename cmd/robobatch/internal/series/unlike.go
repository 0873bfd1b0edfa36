package series

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/place"
)

// An UnlikeError is the error of outputs that were made with flags by which they hold something else.
type UnlikeError struct {
	Output string   // the first of them
	Others int      // how many there are besides
	Flags  []string // that differ, of the first
}

// Error names the flags that differ, and the outputs.
func (e *UnlikeError) Error() string {
	which := say.File(e.Output) + " was"
	if e.Others > 0 {
		which = fmt.Sprintf("%s and %s were", say.File(e.Output), say.Count(int64(e.Others), "other output"))
	}
	return fmt.Sprintf("%s made with another %s: give the flags as they were, or another directory, or -resume=redo to make such outputs anew",
		which, strings.Join(e.Flags, ", "))
}

// lookers is how many records are read at a time: stores of objects answer slowly.
const lookers = 16

// CheckFlags returns an [*UnlikeError] if complete outputs were made with other flags. It changes nothing.
// A file that cannot be read is no record: [Dir.Look] says so.
func (d Dir) CheckFlags(ctx context.Context, items []Item, want *Made) error {
	var mu sync.Mutex
	var found *UnlikeError
	first := len(items)
	var group panics.Group
	group.SetLimit(lookers)
	for i := range items {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			defer place.Forget(d.record(items[i].Output))
			text, err := place.ReadAll(d.record(items[i].Output))
			r := Record{}
			if err != nil || json.Unmarshal(text, &r) != nil || r.Output != items[i].Output {
				return nil
			}
			flags := want.Unlike(&r.Made)
			if len(flags) == 0 {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			if found == nil {
				found = new(UnlikeError)
			} else {
				found.Others++
			}
			if i < first {
				first, found.Output, found.Flags = i, d.Output(&items[i]), flags
			}
			return nil
		})
	}
	err := errors.Join(group.Wait(), ctx.Err())
	if err == nil && found != nil {
		return found
	}
	return err
}
