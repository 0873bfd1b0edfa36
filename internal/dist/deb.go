package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the format asks for it
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maintainer is who Debian's tools name for a package.
const maintainer = "The robobatch authors <robobatch@users.noreply.github.com>"

// homepage is where the project is.
const homepage = "https://github.com/robobatch/robobatch"

// control is the description of the package.
const control = `Package: robobatch
Version: %s
Architecture: %s
Maintainer: ` + maintainer + `
Installed-Size: %d
Section: web
Priority: optional
Homepage: ` + homepage + `
Description: decide for every URL of a log whether robots.txt allows it
 robobatch reads lists of URLs and logs of web servers, looks up the robots.txt
 of each URL in a directory, and writes one row per URL, with the rule that
 decided, as Parquet, Arrow, CSV or JSON Lines. It reads robots.txt as Google
 does, or as RFC 9309 or Yandex say, for any number of crawlers.
`

// debianCopyright is the file of terms. Debian has the text of the licence on every machine.
const debianCopyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: robobatch
Source: ` + homepage + `
Comment: The program is linked statically. The modules of others that it has
 code of, and their terms, are in ` + noticesName + `.gz beside this file.

Files: *
Copyright: %d The robobatch authors
License: Apache-2.0
 On Debian systems, the full text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
`

// lintianOverrides are the complaints that lintian must not make of the package, with the reason.
const lintianOverrides = `# Go links statically. The modules in the program are in ` + noticesName + `.
robobatch: statically-linked-binary
# The package is built for GitHub, and closes no bug of Debian.
robobatch: initial-upload-closes-no-bugs
`

// debian returns the program as a package for Debian and its kin.
func debian(p *program) (pack, error) {
	version := p.debian()
	entries, err := debianFiles(p, version)
	if err != nil {
		return pack{}, err
	}
	var sums bytes.Buffer
	kilobytes := 0
	for _, e := range entries {
		kilobytes += (len(e.body) + 1023) / 1024
		if e.isDir() {
			kilobytes++ // as dpkg-gencontrol counts them
			continue
		}
		sum := md5.Sum(e.body) //nolint:gosec // the format asks for it
		sums.WriteString(hex.EncodeToString(sum[:]) + "  " + e.name + "\n")
	}
	meta, err := debianTar(p, []entry{
		{name: "control", mode: 0o644, body: fmt.Appendf(nil, control, version, p.arch, kilobytes)},
		{name: "md5sums", mode: 0o644, body: sums.Bytes()},
	})
	if err != nil {
		return pack{}, err
	}
	data, err := debianTar(p, entries)
	if err != nil {
		return pack{}, err
	}
	body := arOf([]pack{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", meta}, {"data.tar.gz", data}}, p.time)
	return pack{"robobatch_" + p.arch + ".deb", body}, nil
}

// debianFiles returns the files that the package installs, with the directories.
func debianFiles(p *program, version string) ([]entry, error) {
	const doc = "usr/share/doc/robobatch/"
	entries := []entry{
		{name: "usr/bin/robobatch", mode: 0o755, body: p.binary},
		{name: "usr/share/bash-completion/completions/robobatch", mode: 0o644, body: p.complete["bash"]},
		{name: "usr/share/fish/vendor_completions.d/robobatch.fish", mode: 0o644, body: p.complete["fish"]},
		{name: "usr/share/zsh/vendor-completions/_robobatch", mode: 0o644, body: p.complete["zsh"]},
		{name: "usr/share/lintian/overrides/robobatch", mode: 0o644, body: []byte(lintianOverrides)},
		{name: doc + "copyright", mode: 0o644, body: fmt.Appendf(nil, debianCopyright, p.time.Year())},
	}
	history := fmt.Appendf(nil, "robobatch (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n",
		version, maintainer, p.time.Format(time.RFC1123Z))
	for _, long := range []struct {
		name string
		text []byte
	}{
		{"usr/share/man/man1/robobatch.1", p.manual},
		{doc + "changelog", p.changelog},
		{doc + "changelog.Debian", history},
		{doc + noticesName, p.notices},
	} {
		body, err := gzipped(long.text)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: long.name + ".gz", mode: 0o644, body: body})
	}
	return withParents(entries), nil
}

// debianTar returns a part of the package: names begin with ./, and the first is that.
func debianTar(p *program, entries []entry) ([]byte, error) {
	entries = append([]entry{{name: "./", mode: 0o755}}, entries...)
	for i := range entries[1:] {
		entries[i+1].name = "./" + entries[i+1].name
	}
	body, err := tarOf(entries, p.time)
	if err != nil {
		return nil, err
	}
	return gzipped(body)
}

// arOf returns the files as ar has them.
func arOf(files []pack, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12s%-6d%-6d%-8s%-10d`\n", f.name, strconv.FormatInt(at.Unix(), 10), 0, 0, "100644", len(f.body))
		b.Write(f.body)
		b.WriteString(strings.Repeat("\n", len(f.body)%2))
	}
	return b.Bytes()
}
