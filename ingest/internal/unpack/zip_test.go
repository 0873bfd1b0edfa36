package unpack

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
)

// zipTail is the number of bytes at the end of a file in which the library searches for the end record.
const zipTail = 65 << 10

// makeZip returns an archive of files with these names and the same text.
func makeZip(tb testing.TB, text string, method uint16, names ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// readNamed returns the text of an input.
func readNamed(tb testing.TB, name string, ahead int) (string, error) {
	tb.Helper()
	texts := NewTexts([]string{name}, ahead, 0, new(atomic.Int64))
	defer texts.Release()
	if err := texts.Open(name, nil); err != nil {
		return "", err
	}
	text, err := io.ReadAll(texts)
	return string(text), err
}

// TestZip reads the only file of an archive, and a named one.
func TestZip(t *testing.T) {
	text := strings.Repeat("https://example.com/\n", 10_000)
	dir := t.TempDir()
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		one := testpack.WriteFile(t, dir, "one.zip", makeZip(t, text, method, "a/", "a/Pages.csv", "__MACOSX/a", ".DS_Store"))
		several := testpack.WriteFile(t, dir, "several.zip", makeZip(t, text, method, "Queries.csv", "Pages.csv"))
		for _, name := range []string{one, one + "/a/Pages.csv", several + "/Pages.csv"} {
			for _, ahead := range []int{0, 2} {
				if got, err := readNamed(t, name, ahead); got != text || err != nil {
					t.Errorf("%s ahead by %d: %d bytes, %v", filepath.Base(name), ahead, len(got), err)
				}
			}
		}
		for name, want := range map[string]string{
			several:              "is a zip archive of 2 files, but only one can be read",
			several + "/Dates.c": "is not in the zip archive",
		} {
			if _, err := readNamed(t, name, 0); !errors.Is(err, ErrFormat) || err.Error() != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := readNamed(t, filepath.Join(dir, "none.zip", "x"), 0); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no archive: %v", err)
		}
	}
}

// TestZipSize checks that no text is lost if the directory states a wrong size.
func TestZipSize(t *testing.T) {
	text := strings.Repeat("https://example.com/\n", 100)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		for _, size := range []int{0, len(text) - 1, len(text) + 1} {
			data := makeZip(t, text, method, "a.txt")
			binary.LittleEndian.PutUint32(data[bytes.LastIndex(data, []byte("PK\x01\x02"))+24:], uint32(size))
			path := testpack.WriteFile(t, t.TempDir(), "a.zip", data)
			for _, ahead := range []int{0, 2} {
				if got, err := readNamed(t, path, ahead); got != text || err == nil {
					t.Errorf("method %d, size %d, ahead by %d: %d bytes, %v", method, size, ahead, len(got), err)
				}
			}
		}
	}
}

// TestLargeZip reads an archive with more files than a small end record can count.
func TestLargeZip(t *testing.T) {
	names := make([]string, 1<<16)
	for i := range names {
		names[i] = "a/"
	}
	data := makeZip(t, "https://example.com/\n", zip.Store, append(names, "urls.txt")...)
	path := testpack.WriteFile(t, t.TempDir(), "large.zip", data)
	if got, err := readNamed(t, path, 0); got != "https://example.com/\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	path = testpack.WriteFile(t, t.TempDir(), "joined.zip", slices.Concat(data, data))
	if _, err := readNamed(t, path, 0); !errors.Is(err, ErrFormat) {
		t.Errorf("joined: %v", err)
	}
}

// TestZipRefused checks the errors for damaged and unsupported archives.
func TestZipRefused(t *testing.T) {
	text := strings.Repeat("https://example.com/\n", 10_000)
	good := makeZip(t, text, zip.Deflate, "a.txt")
	directory := bytes.LastIndex(good, []byte("PK\x01\x02"))
	change := func(at int, b ...byte) []byte {
		data := bytes.Clone(good)
		copy(data[at:], b)
		return data
	}
	end := len(good) - zipEndLen
	long := slices.Repeat([]string{strings.Repeat("a", 150) + "/"}, maxDirectory/(46+150))
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"cut":                                 {good[:len(good)-30], ErrDamaged},
		"no directory":                        {[]byte("PK\x03\x04"), ErrDamaged},
		"sum":                                 {change(directory+16, 1, 2, 3, 4), ErrDamaged},
		"shorter":                             {change(directory+24, 1, 0, 0, 0), ErrDamaged},
		"longer":                              {change(directory+24, 0xff, 0xff, 0xff, 0), ErrTruncated},
		"one longer":                          {change(directory+24, byte(len(text)+1)), ErrTruncated},
		"no sum":                              {change(directory+16, 0, 0, 0, 0), ErrFormat},
		"encrypted":                           {change(directory+8, 9), ErrFormat},
		"method":                              {change(directory+10, 93), ErrFormat},
		"Office":                              {makeZip(t, "x", zip.Store, "[Content_Types].xml", "xl/workbook.xml"), ErrFormat},
		"no file":                             {makeZip(t, "", zip.Store, "a/"), ErrFormat},
		"a longer directory promised":         {change(end+12, 0, 0, 0, 1), ErrDamaged},
		"a long directory":                    {makeZip(t, "", zip.Store, long...), errLongDirectory},
		"joined":                              {slices.Concat(good, makeZip(t, text, zip.Store, "b.txt")), ErrFormat},
		"joined twice":                        {slices.Concat(good, good), ErrFormat},
		"joined, cut":                         {slices.Concat(good, good[:len(good)/2]), ErrFormat},
		"one byte more":                       {slices.Concat(good, make([]byte, 1)), ErrFormat},
		"as many bytes behind as a note has":  {slices.Concat(good, make([]byte, 1<<16-1)), ErrFormat},
		"more than that":                      {slices.Concat(good, make([]byte, 1<<16)), ErrFormat},
		"as many as the library looks behind": {slices.Concat(good, make([]byte, zipTail-zipEndLen)), ErrFormat},
		"more than that by one":               {slices.Concat(good, make([]byte, zipTail-zipEndLen+1)), ErrDamaged},
		"a long directory, and as many behind it": {slices.Concat(makeZip(t, "", zip.Store, long...), make([]byte, zipTail-zipEndLen)), errLongDirectory},
	} {
		path := testpack.WriteFile(t, t.TempDir(), "x.zip", test.data)
		if got, err := readNamed(t, path, 0); !errors.Is(err, test.want) {
			t.Errorf("%s: %d bytes, %v, want %v", name, len(got), err, test.want)
		}
	}
	noted := slices.Concat(good[:end+20], []byte("\x04\x00note"))
	if got, err := readNamed(t, testpack.WriteFile(t, t.TempDir(), "x.zip", noted), 0); got != text || err != nil {
		t.Errorf("with a note: %d bytes, %v", len(got), err)
	}
	if _, err := decode(t, bytes.NewReader(good)); !errors.Is(err, ErrFormat) {
		t.Errorf("in a pipe: %v", err)
	}
}

// TestZipSmallEnd reads an archive that Info-ZIP wrote to a pipe: it has the end records of a large and of a small
// archive, with the same values.
func TestZipSmallEnd(t *testing.T) {
	good := makeZip(t, "https://example.com/\n", zip.Store, "-")
	at := len(good) - zipEndLen
	directory := binary.LittleEndian.Uint32(good[at+16:])
	end := append([]byte(zip64End), make([]byte, zip64EndLen-4)...)
	binary.LittleEndian.PutUint64(end[4:], zip64EndLen-12)
	binary.LittleEndian.PutUint64(end[40:], uint64(at)-uint64(directory))
	binary.LittleEndian.PutUint64(end[48:], uint64(directory))
	place := append([]byte(zip64Place), make([]byte, zip64PlaceLen-4)...)
	binary.LittleEndian.PutUint64(place[8:], uint64(at))
	path := testpack.WriteFile(t, t.TempDir(), "x.zip", slices.Concat(good[:at], end, place, good[at:]))
	if got, err := readNamed(t, path, 0); got != "https://example.com/\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzZip reads any data as an archive, which must end. If there is no error, the checksum must be right.
func FuzzZip(f *testing.F) {
	f.Add(makeZip(f, "https://example.com/\n", zip.Deflate, "a.txt"))
	f.Add(makeZip(f, "https://example.com/\n", zip.Store, "a.txt", "b.txt"))
	path := filepath.Join(f.TempDir(), "x.zip")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, append([]byte(packings[Zip].magic), data[min(4, len(data)):]...), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := readNamed(t, path, 0)
		r, zipErr := zip.OpenReader(path)
		if zipErr != nil {
			if err == nil {
				t.Errorf("%q is read, and is no archive: %v", text, zipErr)
			}
			return
		}
		defer r.Close()
		for _, m := range r.File {
			if rc, e := m.Open(); err == nil && e == nil && m.Flags&1 == 0 && !strings.HasSuffix(m.Name, "/") && !strings.HasPrefix(m.Name, "__MACOSX/") && filepath.Base(m.Name) != ".DS_Store" {
				// The library also reads the checksum after the file, which may be damaged.
				if want, e := io.ReadAll(rc); string(want) != text {
					t.Errorf("%q, want %q, %v", text, want, e)
				}
			}
		}
	})
}
