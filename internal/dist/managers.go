package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// releases is where the files of releases are.
const releases = "https://github.com/robobatch/robobatch/releases/download/"

// A manager is a program that installs packages, by files that its users have from elsewhere than a release.
type manager struct {
	file    string   // its file, or one of them
	systems []string // whose archives the file names
	text    string   // a template for a managed
}

// managers are the files for Homebrew, Scoop and winget.
var managers = []manager{
	{"robobatch.rb", []string{"darwin", "linux"}, homebrew},
	{"robobatch.scoop.json", []string{"windows"}, scoop},
	{wingetName + ".yaml", []string{"windows"}, wingetVersion},
	{wingetName + ".installer.yaml", []string{"windows"}, wingetInstaller},
	{wingetName + ".locale.en-US.yaml", []string{"windows"}, wingetLocale},
}

// wingetName is the name of the package for winget.
const wingetName = "robobatch.robobatch"

// A managed is a release, as the template of a manager needs it.
type managed struct {
	Version  string // without the v
	Day      string
	Archives []managedArchive
}

// A managedArchive is an archive that a manager fetches.
type managedArchive struct{ OS, Arch, Dir, URL, Sum string }

// managersOf returns the files for managers of packages, with the checksums of the archives. A manager gets a file if all
// archives that it names were built.
func managersOf(r *release, packages []pack) ([]pack, error) {
	var files []pack
	for _, m := range managers {
		data := managed{Version: r.plain(), Day: r.time.Format("2006-01-02")}
		missing := false
		for _, system := range m.systems {
			for _, arch := range []string{"amd64", "arm64"} {
				a, ok := archiveOf(r, packages, system, arch)
				data.Archives = append(data.Archives, a)
				missing = missing || !ok
			}
		}
		if missing {
			continue
		}
		var b bytes.Buffer
		if err := template.Must(template.New(m.file).Parse(m.text)).Execute(&b, &data); err != nil {
			return nil, fmt.Errorf("%s: %w", m.file, err)
		}
		files = append(files, pack{m.file, b.Bytes()})
	}
	return files, nil
}

// archiveOf returns the archive for a system and a processor, if it was built.
func archiveOf(r *release, packages []pack, system, arch string) (managedArchive, bool) {
	dir := "robobatch-" + system + "-" + arch
	for _, p := range packages {
		if end, ok := strings.CutPrefix(p.name, dir); ok && (end == ".zip" || end == ".tar.gz") {
			return managedArchive{system, arch, dir, releases + r.version + "/" + p.name, hash(p.body)}, true
		}
	}
	return managedArchive{}, false
}

// homebrew is a formula, for a tap.
const homebrew = `class Robobatch < Formula
  desc "Decide for every URL of a log whether robots.txt lets a crawler fetch it"
  homepage "https://github.com/robobatch/robobatch"
  version "{{.Version}}"
  license "Apache-2.0"
{{range $i, $a := .Archives}}{{if eq $a.Arch "amd64"}}
  on_{{if eq $a.OS "darwin"}}macos{{else}}linux{{end}} do
{{- end}}
    on_{{if eq $a.Arch "amd64"}}intel{{else}}arm{{end}} do
      url "{{$a.URL}}"
      sha256 "{{$a.Sum}}"
    end
{{- if eq $a.Arch "arm64"}}
  end
{{end}}{{end}}
  def install
    bin.install "robobatch"
    man1.install "man/man1/robobatch.1"
    bash_completion.install "completion/robobatch.bash" => "robobatch"
    fish_completion.install "completion/robobatch.fish"
    zsh_completion.install "completion/_robobatch"
  end

  test do
    (testpath/"robots.txt").write "User-agent: *\nDisallow: /x\n"
    assert_match "disallowed", shell_output("#{bin}/robobatch explain -rules robots.txt https://example.com/x")
  end
end
`

// scoop is a manifest, for a bucket.
const scoop = `{
    "version": "{{.Version}}",
    "description": "Decide for every URL of a log whether robots.txt lets a crawler fetch it",
    "homepage": "https://github.com/robobatch/robobatch",
    "license": "Apache-2.0",
    "architecture": {
{{- range $i, $a := .Archives}}{{if $i}},{{end}}
        "{{if eq $a.Arch "amd64"}}64bit{{else}}arm64{{end}}": {
            "url": "{{$a.URL}}",
            "hash": "{{$a.Sum}}",
            "extract_dir": "{{$a.Dir}}"
        }
{{- end}}
    },
    "bin": "robobatch.exe"
}
`

// The manifests for winget, in the version of their schemas.
const (
	wingetSchema = "1.10.0"

	wingetVersion = `# yaml-language-server: $schema=https://aka.ms/winget-manifest.version.` + wingetSchema + `.schema.json
PackageIdentifier: ` + wingetName + `
PackageVersion: {{.Version}}
DefaultLocale: en-US
ManifestType: version
ManifestVersion: ` + wingetSchema + `
`

	wingetInstaller = `# yaml-language-server: $schema=https://aka.ms/winget-manifest.installer.` + wingetSchema + `.schema.json
PackageIdentifier: ` + wingetName + `
PackageVersion: {{.Version}}
InstallerType: zip
NestedInstallerType: portable
ReleaseDate: {{.Day}}
Installers:
{{- range .Archives}}
- Architecture: {{if eq .Arch "amd64"}}x64{{else}}arm64{{end}}
  NestedInstallerFiles:
  - RelativeFilePath: {{.Dir}}\robobatch.exe
    PortableCommandAlias: robobatch
  InstallerUrl: {{.URL}}
  InstallerSha256: {{.Sum}}
{{- end}}
ManifestType: installer
ManifestVersion: ` + wingetSchema + `
`

	wingetLocale = `# yaml-language-server: $schema=https://aka.ms/winget-manifest.defaultLocale.` + wingetSchema + `.schema.json
PackageIdentifier: ` + wingetName + `
PackageVersion: {{.Version}}
PackageLocale: en-US
Publisher: robobatch
PackageName: robobatch
PackageUrl: https://github.com/robobatch/robobatch
License: Apache-2.0
ShortDescription: Decide for every URL of a log whether robots.txt lets a crawler fetch it
Tags:
- robots.txt
ManifestType: defaultLocale
ManifestVersion: ` + wingetSchema + `
`
)
