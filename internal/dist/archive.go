package main

import (
	"bytes"
	"slices"
	"strings"
)

// archive returns the program and its documents as a tar.gz, or for Windows as a zip, in one directory.
// Its name is without the version, so that a link to the latest release can name it.
func archive(p *program) (pack, error) {
	name := "robobatch-" + p.os + "-" + p.arch
	entries := []entry{
		{name: p.program(), mode: 0o755, body: p.binary},
		{name: "LICENSE", mode: 0o644, body: p.license},
		{name: "README.md", mode: 0o644, body: p.readme},
		{name: noticesName, mode: 0o644, body: p.notices},
		{name: "man/man1/robobatch.1", mode: 0o644, body: p.manual},
		{name: "completion/robobatch.bash", mode: 0o644, body: p.complete["bash"]},
		{name: "completion/robobatch.fish", mode: 0o644, body: p.complete["fish"]},
		{name: "completion/_robobatch", mode: 0o644, body: p.complete["zsh"]},
	}
	for i := range entries {
		entries[i].name = name + "/" + entries[i].name
	}
	entries = withParents(entries)
	if p.os == "windows" {
		entries = slices.DeleteFunc(entries, func(e entry) bool { return e.isDir() })
		body, err := zipOf(entries, p.time)
		return pack{name + ".zip", body}, err
	}
	body, err := tarOf(entries, p.time)
	if err != nil {
		return pack{}, err
	}
	body, err = gzipped(body)
	return pack{name + ".tar.gz", body}, err
}

// sumsName is the file of the checksums.
const sumsName = "SHA256SUMS"

// checksums returns the file that sha256sum -c reads.
func checksums(packages []pack) pack {
	packages = slices.Clone(packages)
	slices.SortFunc(packages, func(a, b pack) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	for _, p := range packages {
		b.WriteString(hash(p.body) + "  " + p.name + "\n")
	}
	return pack{sumsName, b.Bytes()}
}
