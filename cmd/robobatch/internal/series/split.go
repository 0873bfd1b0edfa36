package series

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/storage"
)

// A Sizer returns the size of an input's text in bytes; 0 if the input cannot be read in parts, see
// [ingest.TextSize].
type Sizer func(name string) (int64, error)

// Divide assigns each input to a shard. Inputs larger than a shard's average are split if possible, by the size of
// their text: their pieces, which are separate items, fill the shards in order, so a shard has at most one piece of
// an input. [assignShards] assigns all other inputs by their sizes.
//
// The hint is about an input that cannot be split and makes its shard more than twice as large as the others; "" if
// there is none.
func Divide(items []Item, count int, textSize Sizer) (all []Item, hint string, err error) {
	list := ListOf(items)
	part := (list.Bytes + perInput*int64(len(items)) + int64(count) - 1) / int64(max(1, count))
	if count <= 1 {
		return items, "", nil
	}
	given, shard := make([]int64, count), 0
	for _, item := range items {
		if item.Err != nil || item.Size <= part {
			all = append(all, item)
			continue
		}
		var text int64
		if textSize != nil && part >= leastPart {
			if text, err = textSize(item.Name); err != nil {
				return nil, "", err
			}
		}
		least := int64(float64(ingest.LeastPart) * (float64(item.Size) / float64(max(1, text)))) // in stored bytes
		if text < item.Size || part < 2*least {
			if all = append(all, item); item.Size > 2*part && hint == "" {
				hint = fmt.Sprintf("%s holds %s of %s, but cannot be split: its shard takes longer than the others", msg.File(item.Name), msg.Bytes(item.Size), msg.Bytes(list.Bytes))
			}
			continue
		}
		pieces := cut(item.Size, part, max(part/16, least+1), given, &shard)
		for i := range pieces {
			pieces[i].makeItem(&item, i, len(pieces), text)
			all = append(all, pieces[i].item)
		}
	}
	assignShards(all, given)
	owner := make(map[string]*Item, len(all))
	for i := range all {
		item := &all[i]
		if other := owner[item.Output]; other != nil {
			return all, hint, fmt.Errorf("%s is split, and a piece of it and %s would have the same output, %s: rename one", msg.File(item.Name), msg.File(other.Name), msg.File(item.Output))
		}
		owner[item.Output] = item
	}
	return all, hint, nil
}

// A piece is a range of the stored bytes of an input.
type piece struct {
	from, to int64
	shard    int
	item     Item
}

// leastPart is the minimum size of a piece, as a fraction of a shard.
const leastPart = ingest.LeastPart / 8

// cut cuts an input of size stored bytes into pieces that fill each shard up to part bytes, beginning with *shard,
// which it advances. The last shard takes all that is left. No piece is smaller than least bytes, unless the input
// is. cut adds the bytes of the pieces to given, the bytes of each shard.
func cut(size, part, least int64, given []int64, shard *int) (pieces []piece) {
	for from := int64(0); from < size; {
		room := part - given[*shard]
		last := *shard == len(given)-1
		if room < least && !last {
			*shard++
			continue
		}
		to := min(from+room, size)
		if last || size-to < least {
			to = size
		}
		pieces = append(pieces, piece{from: from, to: to, shard: *shard})
		given[*shard] += to - from + perInput
		from = to
	}
	return pieces
}

// makeItem sets p.item to piece i of n of an input with that many bytes of text; a single piece is the whole input.
// Offsets of a piece are stored bytes, and those of its Part are bytes of text. Names of outputs sort like the
// pieces.
func (p *piece) makeItem(input *Item, i, n int, text int64) {
	p.item = *input
	if n == 1 {
		p.item.shard = p.shard + 1
		return
	}
	offset := func(at int64) int64 { return int64(float64(at) * (float64(text) / float64(input.Size))) }
	p.item.Part.From = offset(p.from)
	if i < n-1 {
		p.item.Part.To = offset(p.to)
	}
	p.item.shard, p.item.Size, p.item.from = p.shard+1, p.to-p.from, p.from
	dir, base := path.Split(input.Output)
	stem, end := base, ""
	if at := strings.LastIndex(base, verdicts); at >= 0 {
		stem, end = base[:at], base[at:]
	}
	p.item.Output = fmt.Sprintf("%s%s.%0*d-of-%d%s", dir, stem, len(strconv.Itoa(n-1)), i, n, end)
}

// verdicts follows, in the name of an output, the part that comes from its input.
const verdicts = ".verdicts."

// pieceOf matches the part of an output's name that identifies a piece.
var pieceOf = regexp.MustCompile(`\.[0-9]+-of-[0-9]+(\.verdicts\.[^/]*)$`)

// DropOthers removes outputs that an earlier run with a different number of shards made from other pieces of the same
// inputs: their rows would be duplicates. Only the last of all shards may call it.
func (d Dir) DropOthers(s *Sum) error {
	there, err := d.listFiles()
	if err != nil {
		return err
	}
	return d.dropOtherPieces(there, s)
}

// dropOtherPieces is DropOthers for a list of existing files, from which it also removes the files.
func (d Dir) dropOtherPieces(there *view, s *Sum) error {
	type whole struct{ input, output string }
	ours, wholes := map[string]bool{}, map[whole]bool{}
	add := func(input, output string) {
		ours[output] = true
		wholes[whole{input, pieceOf.ReplaceAllString(output, "$1")}] = true
	}
	for _, o := range s.Series.Outputs {
		add(o.Input, o.Output)
	}
	for _, f := range s.Series.Failed {
		add(f.Input, f.Output)
	}
	var left []string
	p := storage.Of(d.Name)
	for _, output := range there.records {
		r := &Record{}
		if !ours[output] {
			if text, err := storage.ReadAll(d.record(output)); err != nil || summary.Read(text, r) != nil || r.Output != output {
				r = &Record{} // check-output reports it
			}
		}
		if !wholes[whole{r.Input.Name, pieceOf.ReplaceAllString(output, "$1")}] {
			left = append(left, output)
			continue
		}
		if r.XXH3 == "" {
			err := d.removeParts(r)
			if err != nil {
				return err
			}
		} else if err := errors.Join(p.Remove(d.record(output)), p.Remove(d.join(output))); err != nil {
			return err
		}
		for _, file := range filesOf(r.output()) {
			delete(there.files, file.Name)
		}
	}
	there.records = left
	return nil
}
