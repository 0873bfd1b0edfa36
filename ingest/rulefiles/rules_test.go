package rulefiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/robots"
)

// makeRules writes files to a new directory called rules in a new working directory. A name with " -> " is a link. The
// body of a file is its name.
func makeRules(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("rules", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		if !isLink {
			testpack.WriteFile(t, "rules", name, []byte(name))
			continue
		}
		link = filepath.Join("rules", link)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
}

// readRules returns "origin name" for each response, and the first error.
func readRules(r *Files) (got []string, err error) {
	for resp, err := range r.Responses() {
		if err != nil {
			return got, err
		}
		got = append(got, string(resp.Origin)+" "+filepath.ToSlash(resp.Name))
	}
	return got, nil
}

func TestRulesDirectory(t *testing.T) {
	cases := []struct {
		name    string
		files   []string
		want    []string
		skipped []string
	}{
		{
			name:  "every kind of name",
			files: []string{"https_a.com.txt", "sub/deep/b.com.txt", "c.com/robots.txt", "d.com_81/robots.txt"},
			want: []string{
				"http://c.com rules/c.com/robots.txt", "https://c.com rules/c.com/robots.txt",
				"http://d.com:81 rules/d.com_81/robots.txt", "https://d.com:81 rules/d.com_81/robots.txt",
				"https://a.com rules/https_a.com.txt",
				"http://b.com rules/sub/deep/b.com.txt", "https://b.com rules/sub/deep/b.com.txt",
			},
		},
		{
			name:  "exact beats bare",
			files: []string{"a.com.txt", "https_A.com.txt", "b.com/robots.txt", "http_b.com_80.txt", "https_b.com.txt"},
			want: []string{
				"http://a.com rules/a.com.txt",
				"http://b.com rules/http_b.com_80.txt",
				"https://a.com rules/https_A.com.txt",
				"https://b.com rules/https_b.com.txt",
			},
		},
		{
			name:  "others are listed",
			files: []string{"https_a.com.txt", "README.txt", "LICENSES/MIT", "robots.txt", ".git/config", ".hidden.txt", "sub/robots.txt", "a@b.com.txt", "x\ny"},
			want:  []string{"https://a.com rules/https_a.com.txt"},
			skipped: []string{
				"rules/.git: hidden",
				"rules/.hidden.txt: hidden",
				"rules/LICENSES/MIT: not named like a robots.txt",
				"rules/README.txt: a host without a scheme needs a dot, or is localhost or an IP address",
				"rules/a@b.com.txt: its host has an invalid character",
				"rules/robots.txt: its directory is not named after a host",
				"rules/sub/robots.txt: a host without a scheme needs a dot, or is localhost or an IP address",
				`"rules/x\ny": not named like a robots.txt`,
			},
		},
		{
			name:  "links inside",
			files: []string{"http_a.com.txt", "http_b.com.txt -> http_a.com.txt", "c.com -> sub/real", "sub/real/robots.txt", "sub/real/http_d.com.txt", "http_e.com.txt -> sub/real/robots.txt"},
			want: []string{
				"http://d.com rules/c.com/http_d.com.txt",
				"http://c.com rules/c.com/robots.txt", "https://c.com rules/c.com/robots.txt",
				"http://a.com rules/http_a.com.txt",
				"http://b.com rules/http_b.com.txt",
				"http://e.com rules/http_e.com.txt",
			},
			skipped: []string{"rules/sub/real/robots.txt: a host without a scheme needs a dot, or is localhost or an IP address"},
		},
		{
			name:  "directory by two names",
			files: []string{"a.com/robots.txt", "b.com -> a.com", "c.com -> b.com", "v2/http_x.com.txt", "current -> v2"},
			want: []string{
				"http://a.com rules/a.com/robots.txt", "https://a.com rules/a.com/robots.txt",
				"http://b.com rules/b.com/robots.txt", "https://b.com rules/b.com/robots.txt",
				"http://c.com rules/c.com/robots.txt", "https://c.com rules/c.com/robots.txt",
				"http://x.com rules/current/http_x.com.txt",
			},
		},
		{
			name:  "one file by two spellings",
			files: []string{"http_a.com.txt", "http_A.com_80.txt -> http_a.com.txt"},
			want:  []string{"http://a.com rules/http_A.com_80.txt"},
		},
		{
			name:  "links out and loops",
			files: []string{"http_a.com.txt", "http_b.com.txt -> /etc/passwd", "c.com -> ..", "d.com -> .", "sub/e.com -> ..", "sub/up -> ../sub", "http_f.com.txt -> /dev/null"},
			want:  []string{"http://a.com rules/http_a.com.txt"},
			skipped: []string{
				"rules/c.com: a link out of the directory",
				"rules/d.com: a link to a directory that contains it",
				"rules/http_b.com.txt: a link out of the directory",
				"rules/http_f.com.txt: a link out of the directory",
				"rules/sub/e.com: a link to a directory that contains it",
				"rules/sub/up: a link to a directory that contains it",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			makeRules(t, c.files...)
			r, err := Find("rules", "")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // Responses can be used again
				got, err := readRules(r)
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("got %v and\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
			if got := r.Skipped(); !slices.Equal(got, c.skipped) {
				t.Errorf("skipped\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.skipped, "\n"))
			}
		})
	}
}

// TestRulesManyLinks checks that directories that link to each other in many ways are walked in linear time.
func TestRulesManyLinks(t *testing.T) {
	const n = 40
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("d%d.com/robots.txt", i))
		for j := range n {
			names = append(names, fmt.Sprintf("d%d.com/l%d.com -> ../d%d.com", i, j, j))
		}
	}
	makeRules(t, names...)
	r, err := Find("rules", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Len(); got != 2*n {
		t.Errorf("%d files, want %d", got, 2*n)
	}
}

func TestRulesThroughLink(t *testing.T) {
	makeRules(t, "http_a.com.txt", "http_b.com.txt -> http_a.com.txt")
	if err := os.Symlink("rules", "link"); err != nil {
		t.Fatal(err)
	}
	r, err := Find("link", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readRules(r)
	if want := []string{"http://a.com link/http_a.com.txt", "http://b.com link/http_b.com.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
}

// TestRulesLinkBeside checks that a link to a directory next to the rules, whose name begins like theirs, leads out.
func TestRulesLinkBeside(t *testing.T) {
	makeRules(t, "sub.com/robots.txt -> ../../rules2/robots.txt")
	if err := os.Mkdir("rules2", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("rules2/robots.txt", []byte("user-agent: *"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Find("rules", "")
	if want := "rules/sub.com/robots.txt: " + errLeadsOut.Error(); !errors.Is(err, ErrNoRules) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want one that says %q", err, want)
	}
}

// TestRulesNoneOfMany checks that an error shows unused files, but not a long list of them.
func TestRulesNoneOfMany(t *testing.T) {
	makeRules(t, "a", "b", "c", "d", "e")
	_, err := Find("rules", "")
	if err == nil || !strings.Contains(err.Error(), "rules/c: ") || !strings.Contains(err.Error(), " and 2 more)") {
		t.Errorf("got %v, want three names and how many more", err)
	}
}

// TestRulesEndless checks that no more than needed is read of a rules file without an end.
func TestRulesEndless(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skipf("no endless file: %v", err)
	}
	r, err := Find(endless, "https://a.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Responses() {
		if !errors.Is(err, ErrNoText) {
			t.Errorf("%v, want %v", err, ErrNoText)
		}
	}
	file := ruleFile{name: endless, path: endless, pipe: new(pipe)}
	if response, err := file.read(); err != nil || len(response.Body) != MaxBody {
		t.Errorf("%d bytes and %v, want %d bytes", len(response.Body), err, MaxBody)
	}
}

func TestRulesErrors(t *testing.T) {
	cases := []struct {
		name, path, origin string
		files              []string
		err                error
		want               string
	}{
		{"missing", "none", "", nil, fs.ErrNotExist, "none: no such file or directory: name a directory of robots.txt files, one robots.txt and its origin, or a pack of robobatch compile"},
		{"missing pack", "rules/none.rbp", "", nil, fs.ErrNotExist, "rules/none.rbp: no such file or directory: check the name, or make the pack with robobatch compile"},
		{
			"file without origin", "rules/x", "",
			[]string{"x"},
			ErrNoOrigin,
			"rules/x: has an unknown origin",
		},
		{
			"origin with directory", "rules", "https://a.com", nil, ErrOriginDir,
			"rules: is a directory, for which no origin can be given",
		},
		{
			"bad origin", "rules/x", "a.com",
			[]string{"x"},
			errOrigin,
			"a.com: not an origin: no scheme: a URL starts like https://: write it like https://www.example.com",
		},
		{
			"nothing in it", "rules", "",
			[]string{"README.txt"},
			ErrNoRules,
			"rules: contains no file that is named like a robots.txt (not used: rules/README.txt: a host without a scheme needs a dot, or is localhost or an IP address): name the files like https_example.com.txt, example.com.txt or example.com/robots.txt",
		},
		{
			"one without its host", "rules", "",
			[]string{"a.xml", "b.xml", "c.xml", "robots.txt"},
			ErrNoRules,
			"rules: contains no file that is named like a robots.txt (not used: rules/robots.txt: its directory is not named after a host; rules/a.xml: not named like a robots.txt; rules/b.xml: not named like a robots.txt and 1 more): name the files like https_example.com.txt, example.com.txt or example.com/robots.txt, or name rules/robots.txt itself, with its site",
		},
		{
			"only a pack in it", "rules", "",
			[]string{"x/a.rbp"},
			ErrNoRules,
			"rules: contains no file that is named like a robots.txt (not used: rules/x/a.rbp: a rule pack, which must be named itself): name the pack itself: rules/x/a.rbp",
		},
		{
			"two for one", "rules", "",
			[]string{"https_a.com.txt", "https_A.com._443.txt", "b.com.txt", "b.com_443.txt"},
			nil,
			"two files are the robots.txt of https://b.com: rules/b.com.txt and rules/b.com_443.txt: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)\n" +
				"two files are the robots.txt of https://a.com: rules/https_A.com._443.txt and rules/https_a.com.txt: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)",
		},
		{
			"two for IDN", "rules", "",
			[]string{"http_müller.eu.txt", "x/http_xn--mller-kva.eu.txt"},
			nil,
			"two files are the robots.txt of http://xn--mller-kva.eu: rules/http_müller.eu.txt and rules/x/http_xn--mller-kva.eu.txt: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)",
		},
		{
			"two bare", "rules", "",
			[]string{"a.com.txt", "a.com/robots.txt", "http_a.com.txt"},
			nil,
			"two files are the robots.txt of http://a.com: rules/a.com/robots.txt and rules/a.com.txt: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)\n" +
				"two files are the robots.txt of https://a.com: rules/a.com/robots.txt and rules/a.com.txt: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			makeRules(t, c.files...)
			_, err := Find(c.path, c.origin)
			if err == nil || err.Error() != c.want || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// TestRulesMisnamedPack checks that a pack with another name is rejected as a robots.txt, for all options, but not a
// file with only the start of a pack.
func TestRulesMisnamedPack(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, origin string }{{"x.pack", ""}, {"x", "https://a.com"}, {"x.txt", "https://a.com"}, {"x.jsonl", ""}} {
		path := testpack.WriteFile(t, dir, test.name, []byte("\x93RBP\r\n\x1a\nand more"))
		_, err := Find(path, test.origin)
		if want := path + ": is a rule pack, but is not named like one: rename it to end in .rbp"; !errors.Is(err, errPackName) || err.Error() != want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := Find(testpack.WriteFile(t, dir, "y.txt", []byte("\x93RBP")), "https://a.com"); err != nil {
		t.Error(err)
	}
}

// TestRulesUnreadable checks that errors for unreadable files come at the end, all of them, after all other responses.
func TestRulesUnreadable(t *testing.T) {
	makeRules(t, "http_a.com.txt", "http_b.com.txt -> nowhere", "http_c.com.txt", "http_d.com.txt -> http_d.com.txt", "http_e.com.txt", "note -> nowhere")
	r, err := Find("rules", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("rules/http_c.com.txt"); err != nil {
		t.Fatal(err)
	}
	got, err := readRules(r)
	if want := []string{"http://a.com rules/http_a.com.txt", "http://e.com rules/http_e.com.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := `3 of the rules files cannot be read (make them readable, or remove them from the directory):
  rules/http_b.com.txt: no such file or directory
  rules/http_c.com.txt: no such file or directory
  rules/http_d.com.txt: EvalSymlinks: too many links`
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if got, want := r.Skipped(), []string{"rules/note: not named like a robots.txt"}; !slices.Equal(got, want) {
		t.Errorf("skipped %q, want %q", got, want)
	}
}

func TestRulesNoPermission(t *testing.T) {
	makeRules(t, "http_a.com.txt", "http_b.com.txt", "sub/http_c.com.txt")
	for _, name := range []string{"rules/http_a.com.txt", "rules/sub"} {
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(name, 0o700)
	}
	if f, err := os.Open("rules/http_a.com.txt"); err == nil {
		f.Close()
		t.Skip("this user may read any file")
	}
	_, err := Find("rules", "")
	want := "1 of the rules files cannot be read (make them readable, or remove them from the directory):\n  rules/sub: permission denied"
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestRulesSingle(t *testing.T) {
	makeRules(t, "site.robots")
	r, err := Find("rules/site.robots", "HTTPS://Example.com:443/robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readRules(r)
	if want := []string{"https://example.com rules/site.robots"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
}

func TestRulesBodies(t *testing.T) {
	makeRules(t)
	dir := "rules"
	sizes := []int{0, 1, 511, robots.MaxBytes - 1, robots.MaxBytes, MaxBody, MaxBody + 1, 3 * MaxBody}
	for i, n := range sizes {
		testpack.WriteFile(t, dir, fmt.Sprintf("h%d.com.txt", i), bytes.Repeat([]byte{'a' + byte(i)}, n))
	}
	huge, err := os.Create("rules/i.com.txt") // with a hole
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(huge.Truncate(10<<30), huge.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	for resp, err := range r.Responses() {
		if err != nil {
			t.Fatal(err)
		}
		size := int64(10 << 30)
		if n/2 < len(sizes) {
			size = int64(sizes[n/2])
		}
		if resp.Size != size || int64(len(resp.Body)) != min(size, MaxBody) {
			t.Errorf("%s: %d bytes of %d, want %d of %d", resp.Name, len(resp.Body), resp.Size, min(size, MaxBody), size)
		}
		n++
	}
	if want := 2 * (len(sizes) + 1); n != want {
		t.Errorf("%d responses, want %d", n, want)
	}
}

// TestRulesResponsesAreOwned checks that changing a body does not affect that of the next origin, and that stopping
// early works.
func TestRulesResponsesAreOwned(t *testing.T) {
	makeRules(t, "a.com.txt", "b.com.txt")
	r, err := Find("rules", "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for resp, err := range r.Responses() {
		if err != nil || n < 2 && string(resp.Body) != "a.com.txt" {
			t.Errorf("body %q, %v, want that of the file", resp.Body, err)
		}
		clear(resp.Body)
		if n++; n == 3 {
			break
		}
	}
}

// TestRulesPipe checks that a pipe has no size before it is read.
func TestRulesPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	go func() {
		w.Write(bytes.Repeat([]byte("\n"), 2*MaxBody))
		w.Close()
	}()
	rules, err := Find(path, "https://a.com")
	if err != nil {
		t.Fatal(err)
	}
	for resp, err := range rules.Responses() {
		if err != nil || resp.Size != 2*MaxBody || len(resp.Body) != MaxBody {
			t.Errorf("%d bytes of %d and %v, want %d of %d", len(resp.Body), resp.Size, err, MaxBody, 2*MaxBody)
		}
	}
}

// TestAbout checks that only files are read that may have a robots.txt of an origin: those named for it, and captures.
func TestAbout(t *testing.T) {
	makeRules(t, "https_a.com.txt", "b.com.txt", "c.com/robots.txt")
	if err := os.WriteFile("rules/x.jsonl", []byte(`{"url":"https://d.com/robots.txt","status":200,"body":"User-agent: *\n"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Find("rules", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readRules(r.About([]robots.Origin{"https://a.com", "http://b.com"}))
	want := []string{"http://b.com rules/b.com.txt", "https://b.com rules/b.com.txt", "https://a.com rules/https_a.com.txt", "https://d.com rules/x.jsonl"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if all, err := readRules(r); err != nil || len(all) != 6 {
		t.Errorf("of all %q, %v", all, err)
	}
}
