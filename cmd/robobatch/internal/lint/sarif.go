package lint

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
)

// The parts of SARIF 2.1.0 (OASIS, 27 March 2020) that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool      `json:"tool"`
		ColumnKind string         `json:"columnKind"`
		Results    []sarifResult  `json:"results"`
		Properties map[string]any `json:"properties,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifText    `json:"shortDescription"`
		Help    sarifText    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int32     `json:"startLine"`
		StartColumn int       `json:"startColumn"`
		Snippet     sarifText `json:"snippet"`
	}
)

// sarifLevels are the levels by severity.
var sarifLevels = []string{"error", "warning", "note"}

// writeSARIF writes the findings as a log of SARIF 2.1.0, with all codes as rules. left is how many
// findings are not in it.
func writeSARIF(w io.Writer, findings []Finding, left int64, version string) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "robobatch", Version: version, InformationURI: "https://github.com/robobatch/robobatch", Rules: make([]sarifRule, len(Codes)),
		}},
		ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, len(findings)),
	}
	for i, c := range Codes {
		run.Tool.Driver.Rules[i] = sarifRule{string(c.Name), sarifText{c.What}, sarifText{c.Do}, sarifDefault{sarifLevels[c.Severity]}}
	}
	for i := range findings {
		run.Results[i] = findings[i].sarif()
	}
	if left > 0 {
		run.Properties = map[string]any{"findingsLeftOut": left}
	}
	text, err := json.MarshalIndent(sarifLog{
		"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run},
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(say.EscapeJSON(text), '\n'))
	return err
}

// sarif returns the finding as a result.
func (f *Finding) sarif() sarifResult {
	key := f.Key()
	text := key.Origin + "\x00" + key.Code + "\x00" + key.Source
	if f.occurrence > 1 { // of equal lines, so that each has its own
		text += "\x00" + strconv.Itoa(f.occurrence)
	}
	sum := xxh3.Hash128([]byte(text)).Bytes()
	index := slices.IndexFunc(Codes, func(c Code) bool { return string(c.Name) == f.Code })
	uri := url.URL{Path: filepath.ToSlash(f.File)}
	artifact := uri.String()
	if f.capture {
		artifact = f.place().name()
	}
	return sarifResult{
		RuleID: f.Code, RuleIndex: index, Level: sarifLevels[f.severity], Message: sarifText{f.Text + ". " + f.Do},
		Locations: []sarifLocation{{sarifPhysical{
			sarifArtifact{artifact}, sarifRegion{max(f.Line, 1), f.Column, sarifText{f.Source}},
		}}},
		Fingerprints: map[string]string{"originCodeLine/v1": hex.EncodeToString(sum[:])},
	}
}
