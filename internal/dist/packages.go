package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

//go:embed templates
var texts embed.FS

// templates are the files that differ only in a few values.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"hash": hash,
	"list": func(all ...string) []string { return all },
	"join": func(all []string) string { return strings.Join(all, ",") },
	"requires": func(dependency, extra string) string { // a dependency of a Python extra
		what, condition, ok := strings.Cut(dependency, ";")
		if ok {
			condition = "(" + strings.TrimSpace(condition) + ") and "
		}
		return strings.TrimSpace(what) + " ; " + condition + "extra == '" + extra + "'"
	},
	"escape": func(version string) string { return strings.ReplaceAll(version, "+", "%2B") }, // in the URL of a package
}).Option("missingkey=error").ParseFS(texts, "templates/*"))

// render executes a template.
func render(name string, values any) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, values)
	return b.Bytes(), err
}

// archive returns a tar.gz, or for Windows a zip, with the program and its documents in one directory. Its name does not
// contain the version, so that links to the latest release can use it.
func archive(p *program) file {
	name := "robobatch-" + p.OS + "-" + p.Arch
	files := []file{{name + "/" + p.name(), 0o755, p.Binary}}
	for _, doc := range []string{"LICENSE", "README.md", noticesName, "man/man1/robobatch.1", "completion/robobatch.bash", "completion/robobatch.fish", "completion/_robobatch"} {
		files = append(files, file{name + "/" + doc, 0o644, p.docs[path.Base(doc)]})
	}
	if p.OS == "windows" {
		return file{name + ".zip", 0, p.keep(zipOf(files, p.Time))}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	p.keep(nil, writeAll(files, func(f *file) (io.Writer, error) {
		return w, w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.body)), ModTime: p.Time, Uname: "root", Gname: "root", Format: tar.FormatGNU})
	}, w))
	return file{name + ".tar.gz", 0, p.keep(gzipped(b.Bytes()))}
}

// writeAll writes each file to the writer that begin returns for it, and then closes all.
func writeAll(files []file, begin func(f *file) (io.Writer, error), all io.Closer) error {
	for i := range files {
		w, err := begin(&files[i])
		if err != nil {
			return err
		}
		if _, err := w.Write(files[i].body); err != nil {
			return err
		}
	}
	return all.Close()
}

// gzipped returns the bytes in gzip format, without a name and a time.
func gzipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		err = writeAll([]file{{body: body}}, func(*file) (io.Writer, error) { return w, nil }, w)
	}
	return b.Bytes(), err
}

// zipOf returns a zip of the files, in this order, with Unix permissions.
func zipOf(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := writeAll(files, func(f *file) (io.Writer, error) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetModTime(at) //nolint:staticcheck // Modified adds a field that depends on the time zone
		h.SetMode(f.mode)
		return w.CreateHeader(h)
	}, w)
	return b.Bytes(), err
}

// description is the description of the Debian package. Its first line is a summary.
const description = `decide for every URL of a log whether robots.txt allows it
robobatch reads lists of URLs and logs of web servers, looks up the robots.txt
of each URL in a directory, and writes one row per URL, with the rule that
decided, as Parquet, Arrow, CSV or JSON Lines. It reads robots.txt as Google
does, or as RFC 9309 or Yandex say, for any number of crawlers.`

// debian returns a Debian package with a program for Linux.
func debian(p *program) []byte {
	info := &nfpm.Info{
		Name: "robobatch", Arch: p.Arch, Platform: p.OS, Version: p.Debian(), VersionSchema: "none",
		Section: "web", Maintainer: "The robobatch authors <robobatch@users.noreply.github.com>",
		Homepage: "https://github.com/robobatch/robobatch", Description: description, MTime: p.Time, DisableGlobbing: true,
	}
	for i, f := range []file{ // those that end in .gz are compressed below
		{"bin/robobatch", 0o755, p.Binary},
		{"share/bash-completion/completions/robobatch", 0o644, p.docs["robobatch.bash"]},
		{"share/fish/vendor_completions.d/robobatch.fish", 0o644, p.docs["robobatch.fish"]},
		{"share/zsh/vendor-completions/_robobatch", 0o644, p.docs["_robobatch"]},
		{"share/lintian/overrides/robobatch", 0o644, p.keep(render("debian.overrides", p))},
		{"share/doc/robobatch/copyright", 0o644, p.keep(render("debian.copyright", p))},
		{"share/man/man1/robobatch.1.gz", 0o644, p.docs["robobatch.1"]},
		{"share/doc/robobatch/changelog.gz", 0o644, p.docs["CHANGELOG.md"]},
		{"share/doc/robobatch/changelog.Debian.gz", 0o644, p.keep(render("debian.changelog", p))},
		{"share/doc/robobatch/" + noticesName + ".gz", 0o644, p.docs[noticesName]},
	} {
		if strings.HasSuffix(f.name, ".gz") {
			f.body = p.keep(gzipped(f.body))
		}
		source := filepath.Join(p.temp, fmt.Sprint(p.Arch, i))
		p.keep(nil, os.WriteFile(source, f.body, 0o600))
		about := &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: p.Time}
		info.Contents = append(info.Contents, &files.Content{Source: source, Destination: "/usr/" + f.name, FileInfo: about})
	}
	var b bytes.Buffer
	p.keep(nil, deb.Default.Package(nfpm.WithDefaults(info), &b))
	return b.Bytes()
}

// platformTags are the Python platform tags of the systems on which the program for a target runs. It is linked statically,
// so it is independent of the C library. Go requires macOS 12.
var platformTags = map[target][]string{
	{"linux", "amd64"}:   {"manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
	{"linux", "arm64"}:   {"manylinux_2_17_aarch64", "musllinux_1_1_aarch64"},
	{"darwin", "amd64"}:  {"macosx_12_0_x86_64"},
	{"darwin", "arm64"}:  {"macosx_12_0_arm64"},
	{"windows", "amd64"}: {"win_amd64"},
	{"windows", "arm64"}: {"win_arm64"},
}

// wheel returns the Python package with the program, which installers put into the directory of python. It contains only
// files that are tracked by git. Unknown fields of pyproject.toml are an error, because they would be missing from it.
func wheel(p *program) file {
	const source = "python/src/"
	var read struct{ Project project }
	known, err := toml.DecodeFile(filepath.Join(p.root, "python/pyproject.toml"), &read)
	for _, key := range known.Undecoded() {
		if key[0] == "project" {
			err = fmt.Errorf("pyproject.toml: unknown field %s, which internal/dist would omit", key)
		}
	}
	p.keep(nil, err)
	about := &read.Project
	about.Text = string(p.keep(os.ReadFile(filepath.Join(p.root, "python", about.Readme))))
	about.Version, err = p.python()
	p.keep(nil, err)
	tags := platformTags[p.target]
	name := "robobatch-" + about.Version
	info := name + ".dist-info/"
	files := []file{
		{name + ".data/scripts/" + p.name(), 0o755, p.Binary},
		{info + "METADATA", 0o644, p.keep(render("wheel.METADATA", about))},
		{info + "WHEEL", 0o644, p.keep(render("wheel.WHEEL", tags))},
		{info + "licenses/LICENSE", 0o644, p.docs["LICENSE"]},
		{info + "licenses/" + noticesName, 0o644, p.docs[noticesName]},
	}
	list := exec.Command("git", "ls-files", "--", source)
	list.Dir = p.root
	for path := range strings.FieldsSeq(string(p.keep(output(list)))) {
		files = append(files, file{path[len(source):], 0o644, p.keep(os.ReadFile(filepath.Join(p.root, path)))})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var record bytes.Buffer // list of the files with their hashes, and of itself without one
	for _, f := range files {
		sum := sha256.Sum256(f.body)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.body))
	}
	record.WriteString(info + "RECORD,,\n")
	files = append(files, file{info + "RECORD", 0o644, record.Bytes()})
	return file{name + "-py3-none-" + strings.Join(tags, ".") + ".whl", 0, p.keep(zipOf(files, p.Time))}
}

// A project is the part of pyproject.toml that becomes the metadata of a wheel.
type project struct {
	Name, Version, Description, Readme, License string // Version is replaced by that of the release
	Python                                      string `toml:"requires-python"`
	Keywords, Classifiers, Dependencies         []string
	Optional                                    map[string][]string `toml:"optional-dependencies"`
	URLs                                        map[string]string
	Text                                        string `toml:"-"` // of the readme
}
