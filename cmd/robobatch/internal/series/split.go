package series

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/place"
)

// A Sizer returns how many bytes the text of an input has, 0 if it cannot be read in parts, see [ingest.TextSize].
type Sizer func(name string) (int64, error)

// Divide gives each input its shard, by the sizes of the inputs and by the text of those that are larger than a shard's part. These
// are split where they can be: each shard takes of them what it has room for, in their order, so a shard has at most one piece of
// an input. The pieces are items of their own. All others are given away by [spread].
//
// The hint is about an input that cannot be split and makes its shard more than twice as large as the others.
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
		least := int64(float64(ingest.LeastPart) * (float64(item.Size) / float64(max(1, text)))) // as stored
		if text < item.Size || part < 2*least {
			if all = append(all, item); item.Size > 2*part && hint == "" {
				hint = fmt.Sprintf("%s holds %s of %s, but cannot be split: its shard takes longer than the others", say.File(item.Name), say.Bytes(item.Size), say.Bytes(list.Bytes))
			}
			continue
		}
		pieces := cut(item.Size, part, max(part/16, least+1), given, &shard)
		for i := range pieces {
			pieces[i].name(&item, i, len(pieces), text)
			all = append(all, pieces[i].item)
		}
	}
	spread(all, given)
	return all, hint, checkPieces(all)
}

// checkPieces returns an error if a piece has the output of another item.
func checkPieces(items []Item) error {
	owner := make(map[string]*Item, len(items))
	for i := range items {
		item := &items[i]
		if other := owner[item.Output]; other != nil {
			return fmt.Errorf("%s is split, and a piece of it and %s would have the same output, %s: rename one", say.File(item.Name), say.File(other.Name), say.File(item.Output))
		}
		owner[item.Output] = item
	}
	return nil
}

// A piece is a range of the stored bytes of an input.
type piece struct {
	from, to int64
	shard    int
	item     Item
}

// leastPart is the least part of a shard that inputs are split for.
const leastPart = ingest.LeastPart / 8

// cut cuts an input into what shards have room for, from the given one on. No piece is less than least.
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

// name makes the item of a piece, of an input of so many bytes of text. Names of outputs sort as the pieces do.
func (p *piece) name(of *Item, i, n int, text int64) {
	p.item = *of
	if n == 1 {
		p.item.shard = p.shard + 1
		return
	}
	offset := func(at int64) int64 { return int64(float64(at) * (float64(text) / float64(of.Size))) }
	p.item.Part.From = offset(p.from)
	if i < n-1 {
		p.item.Part.To = offset(p.to)
	}
	p.item.shard, p.item.Size, p.item.from = p.shard+1, p.to-p.from, p.from
	dir, base := path.Split(of.Output)
	stem, end := base, ""
	if at := strings.LastIndex(base, verdicts); at >= 0 {
		stem, end = base[:at], base[at:]
	}
	p.item.Output = fmt.Sprintf("%s%s.%0*d-of-%d%s", dir, stem, len(strconv.Itoa(n-1)), i, n, end)
}

// verdicts stands in the names of outputs behind what tells their input.
const verdicts = ".verdicts."

// pieceOf is what tells the output of a piece.
var pieceOf = regexp.MustCompile(`\.[0-9]+-of-[0-9]+(\.verdicts\.[^/]*)$`)

// DropOthers removes outputs of the same inputs that are split in another way, by an earlier run with another number of shards:
// their rows would be there twice. It is for the last of all shards.
func (d Dir) DropOthers(s *Sum) error {
	there, err := d.look()
	if err != nil {
		return err
	}
	return d.dropOthers(there, s)
}

// dropOthers is DropOthers, of the files that are there.
func (d Dir) dropOthers(there *view, s *Sum) error {
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
	p := place.Of(d.Name)
	for _, output := range there.records {
		r := &Record{}
		if !ours[output] {
			if text, err := place.ReadAll(d.record(output)); err != nil || summary.Read(text, r) != nil || r.Output != output {
				r = &Record{} // check-output says so
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
