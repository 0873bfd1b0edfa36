package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// platformTags are the systems that a program of a target runs on, as Python names them. It is linked
// statically, so the C library does not matter; Go asks for macOS 12.
var platformTags = map[target][]string{
	{"linux", "amd64"}:   {"manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
	{"linux", "arm64"}:   {"manylinux_2_17_aarch64", "musllinux_1_1_aarch64"},
	{"darwin", "amd64"}:  {"macosx_12_0_x86_64"},
	{"darwin", "arm64"}:  {"macosx_12_0_arm64"},
	{"windows", "amd64"}: {"win_amd64"},
	{"windows", "arm64"}: {"win_arm64"},
}

// pythonSource is the directory of the Python package's modules.
const pythonSource = "python/src"

// wheel returns the Python package with the program in it, which installers put beside python.
func wheel(p *program) (pack, error) {
	version, err := p.python()
	if err != nil {
		return pack{}, err
	}
	tags := platformTags[p.target]
	project, err := readProject(filepath.Join(p.root, "python"))
	if err != nil {
		return pack{}, err
	}
	entries, err := pythonModules(p.root)
	if err != nil {
		return pack{}, err
	}
	name := project.Name + "-" + version
	info := name + ".dist-info/"
	var about bytes.Buffer
	about.WriteString("Wheel-Version: 1.0\nGenerator: robobatch-dist\nRoot-Is-Purelib: false\n")
	for _, tag := range tags {
		about.WriteString("Tag: py3-none-" + tag + "\n")
	}
	entries = append(entries,
		entry{name: name + ".data/scripts/" + p.program(), mode: 0o755, body: p.binary},
		entry{name: info + "METADATA", mode: 0o644, body: project.metadata(version)},
		entry{name: info + "WHEEL", mode: 0o644, body: about.Bytes()},
		entry{name: info + "licenses/LICENSE", mode: 0o644, body: p.license},
		entry{name: info + "licenses/" + noticesName, mode: 0o644, body: p.notices},
	)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	entries = append(entries, entry{name: info + "RECORD", mode: 0o644, body: record(entries, info+"RECORD")})
	body, err := zipOf(entries, p.time)
	return pack{name + "-py3-none-" + strings.Join(tags, ".") + ".whl", body}, err
}

// pythonModules returns the files of the package that the repository knows: others may lie there.
func pythonModules(root string) ([]entry, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--", pythonSource)
	cmd.Dir = root
	names, err := output(cmd)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		short, ok := strings.CutPrefix(name, pythonSource+"/")
		if !ok {
			return nil, fmt.Errorf("%s has no files that git knows", pythonSource)
		}
		body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: short, mode: 0o644, body: body})
	}
	return entries, nil
}

// record returns the list of the files of a wheel with their hashes, itself without one.
func record(entries []entry, itself string) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		sum := sha256.Sum256(e.body)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.body))
	}
	b.WriteString(itself + ",,\n")
	return b.Bytes()
}
