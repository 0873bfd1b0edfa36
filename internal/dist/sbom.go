package main

import (
	"bytes"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom returns the list of the modules in a program, as CycloneDX. It has no serial number, which would be another in
// each build.
func sbom(p *program) (pack, error) {
	ours := packageURL("github.com/robobatch/robobatch", p.version)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: p.time.UTC().Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: ours, Type: cdx.ComponentTypeApplication, Name: "robobatch", Version: p.version, PackageURL: ours,
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hash(p.binary)}},
			Properties: &[]cdx.Property{{Name: "robobatch:os", Value: p.os}, {Name: "robobatch:arch", Value: p.arch}},
		},
	}
	var components []cdx.Component
	var refs []string
	for _, m := range p.modules {
		name, version := m.path, m.version
		if m.isGo() {
			name, version = "std", version[len("go"):]
		}
		ref := packageURL(name, version)
		components = append(components, cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: ref})
		refs = append(refs, ref)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: ours, Dependencies: &refs}}
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return pack{"robobatch-" + p.os + "-" + p.arch + ".cdx.json", b.Bytes()}, err
}

// packageURL returns the address of a module as package-url has it, where a plus stands escaped.
func packageURL(module, version string) string {
	return "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
}
