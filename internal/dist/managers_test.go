package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestSBOM compares the list of modules of each archive with what the program that was linked says of itself.
func TestSBOM(t *testing.T) {
	b := builtHere(t)
	for _, to := range targetsHere() {
		list := b.find(t, "-"+to.OS+"-"+to.Arch+".cdx.json")
		var bom cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(list.body), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(b.dir, to.OS+"-"+to.Arch, to.name())
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{"std@" + strings.TrimPrefix(info.GoVersion, "go"): true}
		for _, m := range info.Deps {
			want[m.Path+"@"+m.Version] = true
		}
		for _, c := range *bom.Components {
			if name := c.Name + "@" + c.Version; !want[name] || c.PackageURL != "pkg:golang/"+c.Name+"@"+strings.ReplaceAll(c.Version, "+", "%2B") {
				t.Errorf("%s: the list has %s, %s, and the program has not", to, name, c.PackageURL)
			}
		}
		if len(*bom.Components) != len(want) || bom.SerialNumber != "" || bom.Metadata.Component.Version != b.Version || bom.Metadata.Timestamp != b.Time.Format(time.RFC3339) {
			t.Errorf("%s: %d components of %d, serial number %q, version %s, time %s", to, len(*bom.Components), len(want), bom.SerialNumber, bom.Metadata.Component.Version, bom.Metadata.Timestamp)
		}
	}
}

// allArchives are archives as a release has them, with other bytes.
func allArchives() (packages []file) {
	for _, t := range allTargets {
		end := ".tar.gz"
		if t.OS == "windows" {
			end = ".zip"
		}
		packages = append(packages, file{name: "robobatch-" + t.OS + "-" + t.Arch + end, body: []byte(t.String())})
	}
	return packages
}

// TestManagers looks for the address and the checksum of each archive in the files for managers of packages, and for the
// braces that make a formula of Ruby.
func TestManagers(t *testing.T) {
	r := &release{Version: "v1.2.3", Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)}
	archives := allArchives()
	files, err := managersOf(r, archives)
	if err != nil || len(files) != len(managers) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	text := map[string]string{}
	for _, f := range files {
		text[f.name] = string(f.body)
		if strings.Contains(text[f.name], "<no value>") || !strings.Contains(text[f.name], "1.2.3") {
			t.Errorf("%s:\n%s", f.name, f.body)
		}
	}
	for _, a := range archives {
		url := "https://github.com/robobatch/robobatch/releases/download/v1.2.3/" + a.name
		for name, pattern := range map[string]string{
			"robobatch.rb": `url "%s"\n\s+sha256 "%s"`, "robobatch.scoop.json": `"url": "%s",\n\s+"hash": "%s"`, "robobatch.robobatch.installer.yaml": `InstallerUrl: %s\n\s+InstallerSha256: %s\n`,
		} {
			isWindows := strings.HasSuffix(a.name, ".zip")
			found := regexp.MustCompile(fmt.Sprintf(pattern, regexp.QuoteMeta(url), hash(a.body))).MatchString(text[name])
			if found != (isWindows != (name == "robobatch.rb")) {
				t.Errorf("%s has %s: %t", name, a.name, found)
			}
		}
	}
	if !json.Valid([]byte(text["robobatch.scoop.json"])) {
		t.Error("the file for Scoop is no JSON")
	}
	begins, ends := regexp.MustCompile(`(?m)^\s*(class\b.*|def\b.*|.* do)$`), regexp.MustCompile(`(?m)^\s*end$`)
	if n, m := len(begins.FindAllString(text["robobatch.rb"], -1)), len(ends.FindAllString(text["robobatch.rb"], -1)); n != m || n != 9 {
		t.Errorf("the formula begins %d blocks and ends %d:\n%s", n, m, text["robobatch.rb"])
	}
	if !full && slices.ContainsFunc(builtHere(t).packages, func(p file) bool { return p.name == managers[0] }) {
		t.Error("there is a formula without all archives")
	}
}
