package partition

import "github.com/robobatch/robobatch/internal/place"

// MaxParts is of how many files a run keeps the hashes. More take more memory than a run may have for each partition.
const MaxParts = 10_000

// A Part is a file of a partitioned output that a run has written.
type Part struct {
	Name  string // below the directory of the output
	Bytes int64
	XXH3  string // 128 bits
}

// Parts are the files that a run has written; nil notes none.
type Parts struct {
	of     []Part // while the run goes on, Name is the name of the directory of a partition
	count  int64
	marker Part // none if later runs change it
}

// addPart adds the file of a partition.
func (p *Parts) addPart(dir string, d *place.Digest) {
	if p == nil {
		return
	}
	p.count++
	if p.count > MaxParts {
		p.of = nil
		return
	}
	size, hash := d.Sum()
	p.of = append(p.of, Part{dir, size, hash})
}
