package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/ingest/sitemapfiles"
	"github.com/robobatch/robobatch/sitemap"
)

// ErrIndex means that a sitemap index is in a pipe or has a name unlike a sitemap, so its files were not searched.
var ErrIndex = errors.New("it is a sitemap index: its sitemaps are read if you name the file and set the format sitemap")

// ErrNoSitemaps means that none of the files of a sitemap index exists.
var ErrNoSitemaps = errors.New("it is a sitemap index, but none of its files is next to it")

// A sitemapLog reads the URLs of a sitemap as rows. It reads the text that a textLog has opened.
type sitemapLog struct {
	text  *textLog
	rd    *sitemap.Reader
	named bool   // with -format
	first string // the first line
	place where  // of the last entry, or of the fault
	bytes int64  // counted so far
	noURL int64  // entries without a URL, counted so far
	ended bool
}

// isSitemap reports whether the open log is read as a sitemap.
func (l *textLog) isSitemap(f Format) bool {
	return f == weblog.Sitemap || f == weblog.Auto && sitemap.LooksLikeXML(l.utf8.Head())
}

// fill adds at most rows rows, of about size bytes, to b. It rejects entries without a URL. An index is a fault.
func (s *sitemapLog) fill(r *rowReader, b *engine.Batch, rows, size int) error {
	defer func() {
		n := s.rd.Notes().Bytes
		r.odd.Bytes += n - s.bytes
		s.bytes = n
	}()
	for b.Len() < rows && len(b.Data) < size && !s.ended {
		e, err := s.rd.Next()
		s.refuseSkipped(r, b)
		switch {
		case err == io.EOF:
			s.ended = true
			return nil
		case err != nil:
			return s.failWith(err)
		case s.rd.Kind() == sitemap.Index:
			return s.failWith(ErrIndex)
		}
		s.place = where{e.Line, e.Offset}
		r.row = weblog.Row{Target: e.URL, Time: weblog.NoTime, Blank: weblog.HasBlank(e.URL)}
		if base := r.fields.Base; base != "" && e.URL[0] == '/' && !bytes.HasPrefix(e.URL, []byte("//")) {
			r.row.Target = append([]byte(base), e.URL...)
		}
		r.addRow(b, e.URL, s.place)
	}
	return nil
}

// refuseSkipped rejects the entries without a URL that the sitemap's reader has skipped since the last call.
func (s *sitemapLog) refuseSkipped(r *rowReader, b *engine.Batch) {
	for n := s.rd.Notes(); s.noURL < n.NoURL; s.noURL++ {
		r.refuse(b, weblog.RefusedURL, nil, where{n.LastLine, n.LastOffset})
	}
}

// failWith ends the rows, and sets s.place to the place of the fault. It returns err, with a remedy if there is one.
func (s *sitemapLog) failWith(err error) error {
	s.ended = true
	at, ok := errors.AsType[*sitemap.Error](err)
	if !ok {
		return err
	}
	s.place = where{at.Line, at.Offset}
	if !s.named && (errors.Is(err, sitemap.ErrRoot) || errors.Is(err, sitemap.ErrHTML)) {
		return &ForeignError{Kind: ForeignXML, First: s.first}
	}
	if remedy := sitemapfiles.Remedy(at.Err); remedy != "" {
		return fmt.Errorf("%w: %s", at.Err, remedy)
	}
	return at.Err
}

// unverified returns the first line if the text is packed, because its entries are not verified one by one.
func (s *sitemapLog) unverified() int64 {
	if s.text.utf8.Verified() == math.MaxInt64 || !s.ended {
		return 0
	}
	return 1
}

func (s *sitemapLog) done() bool     { return s.ended }
func (s *sitemapLog) at() where      { return s.place }
func (s *sitemapLog) format() Format { return weblog.Sitemap }
func (s *sitemapLog) packed() int64  { return 0 } // counted by texts
func (s *sitemapLog) close() error   { return s.text.close() }

// expandIndexes replaces sitemap indexes among the inputs with their sitemaps, and returns what is odd in them. If the
// format is Auto, it only opens files whose names look like those of sitemaps. The error is one or more joined
// [*NameError].
func expandIndexes(inputs []Input, opt *LogOptions) (expanded []Input, notes []sitemapfiles.Note, err error) {
	var errs []error
	for _, in := range inputs {
		base := strings.ToLower(path.Base(strings.ReplaceAll(in.Name, "\\", "/")))
		mayBe := strings.Contains(base, "sitemap") || strings.HasSuffix(base, ".xml") || strings.Contains(base, ".xml.")
		if in.content != unpack.Text || !in.isFile() || opt.Format != weblog.Sitemap && (opt.Format != weblog.Auto || !mayBe) {
			expanded = append(expanded, in)
			continue
		}
		names, more := sitemapfiles.Expand(in.Name, opt.Window)
		notes = append(notes, more...)
		if len(names) == 1 && names[0] == in.Name {
			expanded = append(expanded, in)
			continue
		}
		if len(names) == 0 {
			errs = append(errs, &NameError{Name: in.Name, Err: ErrNoSitemaps, Remedy: "put them there by the names in their URLs"})
		}
		for _, name := range names {
			child, err := inspect(name)
			errs, expanded = append(errs, err), append(expanded, child)
		}
	}
	return expanded, notes, errors.Join(errs...)
}

// SitemapNotes returns what is odd in the sitemap indexes among the logs.
func (l *Logs) SitemapNotes() []sitemapfiles.Note { return l.notes }
