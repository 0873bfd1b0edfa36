package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A quickStart is the first command of README.md, and what its output is compared with.
type quickStart struct {
	arguments []string
	sample    string   // each 600th line of blocked.csv
	summary   []string // lines of what it prints
}

// readQuickStart reads it from README.md of the repository.
func readQuickStart(t *testing.T) *quickStart {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sh\nrobobatch (-rules testdata/quickstart/.*?)\nawk 'NR % 600 == 1' blocked.csv\n```\n```text\n(.*?)```").FindSubmatch(readme)
	if m == nil {
		t.Fatal("README.md has no first run")
	}
	text := string(m[2])
	q := &quickStart{
		arguments: strings.Fields(strings.ReplaceAll(string(m[1]), "\\\n", " ")),
		sample:    text[strings.Index(text, "url,rule_line,rule\n"):],
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  disallowed ") || strings.HasPrefix(line, "  allowed ") {
			q.summary = append(q.summary, line)
		}
	}
	if len(q.summary) < 3 {
		t.Fatalf("the first run in README.md has %q, want what was allowed, disallowed, and by which rules", q.summary)
	}
	return q
}

// run runs a command with the arguments in a directory, which gets the data of the quick start, and
// compares what it prints and writes with README.md.
func (q *quickStart) run(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(dir, "testdata/quickstart"), os.DirFS("../../testdata/quickstart")); err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(cmd.Args, q.arguments...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	for _, line := range q.summary {
		if !bytes.Contains(out, []byte(line)) {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
	blocked, err := os.ReadFile(filepath.Join(dir, "blocked.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var sample strings.Builder
	n := 0
	for line := range strings.Lines(string(blocked)) {
		if n++; n%600 == 1 {
			sample.WriteString(line)
		}
	}
	if sample.String() != q.sample {
		t.Errorf("each 600th line of blocked.csv:\n%swant\n%s", sample.String(), q.sample)
	}
}

// bare runs a program with nothing in its environment.
func bare(dir, program string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Env = dir, []string{"PATH="}
	return cmd
}

// must runs a command of the test's own.
func must(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	out, err := exec.Command(name, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, out)
	}
	return string(out)
}

// checkVersion asks a program for its version.
func (b *built) checkVersion(t *testing.T, program string) {
	t.Helper()
	if got, want := must(t, program, "-version"), "robobatch "+b.Version+"\n"; got != want {
		t.Errorf("%s -version prints %q, want %q", program, got, want)
	}
}

func TestInstallArchive(t *testing.T) {
	b := builtHere(t)
	dir := t.TempDir()
	name := b.find(t, "-linux-"+hostTarget.Arch+".tar.gz").save(t)
	must(t, "tar", "-C", dir, "-xzf", name)
	top := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".tar.gz"))
	b.checkVersion(t, filepath.Join(top, "robobatch"))
	readQuickStart(t).run(t, bare(dir, filepath.Join(top, "robobatch")), dir)
	for name, want := range map[string]string{
		"LICENSE": "Apache License", noticesName: "golang.org/x/sys", "README.md": "## Install",
		"man/man1/robobatch.1":      inManual(b.Version),
		"completion/robobatch.bash": "complete", "completion/robobatch.fish": "complete", "completion/_robobatch": "#compdef",
	} {
		if text, err := os.ReadFile(filepath.Join(top, name)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s has no %q: %v", name, want, err)
		}
	}
}

// inManual returns a text as the source of a manual has it.
func inManual(text string) string { return strings.ReplaceAll(text, "-", `\-`) }

// inRoot has a command run with dir as the root of its file system.
func inRoot(t *testing.T, cmd *exec.Cmd, dir string) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("another root directory needs the user root")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir}
	return cmd
}

func TestInstallDebian(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip(err)
	}
	b := builtHere(t)
	root := t.TempDir()
	program := inRoot(t, bare("/", "/usr/bin/robobatch"), root)
	for _, dir := range []string{"updates", "info"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	name := b.find(t, "_"+hostTarget.Arch+".deb").save(t)
	must(t, "dpkg", "--root="+root, "--install", name)
	if got := must(t, "dpkg-query", "--admindir="+root+"/var/lib/dpkg", "-W", "-f=${Status} ${Version}", "robobatch"); got != "install ok installed "+b.Debian() {
		t.Errorf("dpkg knows %q", got)
	}
	must(t, "dpkg", "--root="+root, "--verify", "robobatch")
	b.checkVersion(t, filepath.Join(root, "usr/bin/robobatch"))
	readQuickStart(t).run(t, program, root)
	manual := must(t, "gzip", "-dc", filepath.Join(root, "usr/share/man/man1/robobatch.1.gz"))
	if !strings.Contains(manual, inManual(b.Version)) || !strings.Contains(manual, b.Time.Format("2006-01-02")) {
		t.Errorf("the manual begins %.100q, without the version or the date", manual)
	}
	must(t, "dpkg", "--root="+root, "--purge", "robobatch")
	if left, err := filepath.Glob(filepath.Join(root, "usr/*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left when it is removed, %v", left, err)
	}
}

// TestLintian has Debian's own checks.
func TestLintian(t *testing.T) {
	if _, err := exec.LookPath("lintian"); err != nil {
		t.Skip(err)
	}
	name := builtHere(t).find(t, "_"+hostTarget.Arch+".deb").save(t)
	out, err := exec.Command("lintian", "--allow-root", "--fail-on=error,warning", name).Output()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestInstallImage lays out the files of an image, and runs the program among them as the Dockerfile says.
func TestInstallImage(t *testing.T) {
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil {
		t.Skip(err)
	}
	archive := builtHere(t).find(t, "-linux-"+hostTarget.Arch+".tar.gz").save(t)
	dir := t.TempDir()
	must(t, "../../.ci/image", filepath.Dir(archive), dir)
	root := filepath.Join(dir, hostTarget.Arch)
	for _, name := range []string{"tmp", "work"} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode() != 0o777|os.ModeDir|os.ModeSticky {
			t.Errorf("/%s: %v, %v", name, info, err)
		}
	}
	for name, want := range map[string]string{
		"etc/ssl/certs/ca-certificates.crt": "BEGIN CERTIFICATE", "etc/passwd": ":65532:65532:",
		"usr/share/doc/robobatch/LICENSE": "Apache License", "usr/share/doc/robobatch/" + noticesName: "golang.org/x/sys",
	} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s has no %q: %v", name, want, err)
		}
	}
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[key] = value
	}
	user, err := strconv.ParseUint(strings.Split(said["USER"], ":")[0], 10, 32)
	if err != nil || user == 0 || said["FROM"] != "scratch" || said["COPY"] != "${TARGETARCH}/ /" {
		t.Fatalf("the Dockerfile says %q: %v", said, err)
	}
	program := inRoot(t, exec.Command(strings.Trim(said["ENTRYPOINT"], `[]"`)), root)
	program.Dir, program.Env = said["WORKDIR"], strings.Fields(said["ENV"])
	program.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
	readQuickStart(t).run(t, program, filepath.Join(root, program.Dir))
}

// TestTarsAgree compares the image with the archive: they have one program.
func TestTarsAgree(t *testing.T) {
	b := builtHere(t)
	linked, err := os.ReadFile(filepath.Join(b.dir, hostTarget.OS+"-"+hostTarget.Arch, "robobatch"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b.find(t, "-linux-"+hostTarget.Arch+".tar.gz").body))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("no program in the archive: %v", err)
		}
		if h.Uid != 0 || h.Uname != "root" || !h.ModTime.Equal(b.Time) {
			t.Errorf("%s is of %d %s at %v", h.Name, h.Uid, h.Uname, h.ModTime)
		}
		if filepath.Base(h.Name) != "robobatch" || h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(body, linked) || h.Mode != 0o755 {
			t.Errorf("the program in the archive is not what was linked: mode %o, %v", h.Mode, err)
		}
		return
	}
}
