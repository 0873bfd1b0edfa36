package output

// A container lays the rows of chunks out in a file.
type container interface {
	// write adds a chunk, which is its from then on, and returns empty columns for the next one.
	// The numbering stays the caller's; the container resets it when it has written the
	// dictionaries, and not before.
	write(c *chunk) (*chunk, error)
	// close writes what is left, given empty columns. The sink is not its to flush.
	close(c *chunk, md metadataPairs) error
	// abort ends all work under way, after an error or in place of close.
	abort()
}

// newContainer returns the container of a file, and how long its first chunk is.
func (o Options) newContainer(s *sink, l *layout, md *metadataPairs) (container, limits, error) {
	switch o.Format {
	case Parquet:
		p, err := newParquet(s, l, o)
		if err != nil {
			return nil, limits{}, err
		}
		return p, p.nextLimits(), nil
	case ArrowFile, ArrowStream:
		a, err := newArrow(s, l, o, md)
		return a, arrowChunk, err
	default:
		return newLines(s, l, o), lineChunk, nil
	}
}
