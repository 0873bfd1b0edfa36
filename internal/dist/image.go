package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is who runs the program in a container: nobody that a machine knows, and not root.
// Kubernetes wants a number.
const imageUser = 65532

// A descriptor names a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// A platform is the system that an image runs on.
type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// An imageConfig names the program in an image, and its layers.
type imageConfig struct {
	Created time.Time `json:"created"`
	platform
	Config struct {
		User       string
		Env        []string
		Entrypoint []string
		WorkingDir string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []imageHistory `json:"history"`
}

// An imageHistory says where a layer is from.
type imageHistory struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// A blob is a part of an image, under its hash.
type blob struct {
	descriptor
	body []byte
}

// newBlob returns the bytes as a blob.
func newBlob(kind string, body []byte) blob {
	return blob{descriptor{MediaType: kind, Digest: "sha256:" + hash(body), Size: len(body)}, body}
}

// name returns the place of a blob in the layout.
func (b *blob) name() string { return "blobs/sha256/" + b.Digest[len("sha256:"):] }

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// The types of blobs.
const (
	kindManifest = "application/vnd.oci.image.manifest.v1+json"
	kindConfig   = "application/vnd.oci.image.config.v1+json"
	kindLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
	kindIndex    = "application/vnd.oci.image.index.v1+json"
)

// image returns the program as an image of one layer, in a tar that is both an OCI layout and the one
// `docker save` has written ever since: any version of docker, podman and skopeo reads one of the two.
// There is one image for each processor, as the older of the two forms has no place for more.
func image(p *program) (pack, error) {
	files, err := tarOf(imageFiles(p), p.time)
	if err != nil {
		return pack{}, err
	}
	packed, err := gzipped(files)
	if err != nil {
		return pack{}, err
	}
	layer := newBlob(kindLayer, packed)
	config, err := jsonBlob(kindConfig, newImageConfig(p, "sha256:"+hash(files)))
	if err != nil {
		return pack{}, err
	}
	manifest, err := jsonBlob(kindManifest, map[string]any{
		"schemaVersion": 2, "mediaType": kindManifest, "config": config.descriptor, "layers": []descriptor{layer.descriptor},
	})
	if err != nil {
		return pack{}, err
	}
	tag := "robobatch:" + imageTag(p.plain())
	listed := manifest.descriptor
	listed.Platform = &platform{p.arch, p.os}
	listed.Annotations = map[string]string{"io.containerd.image.name": "docker.io/library/" + tag, "org.opencontainers.image.ref.name": imageTag(p.plain())}
	index, errIndex := jsonBlob(kindIndex, map[string]any{"schemaVersion": 2, "mediaType": kindIndex, "manifests": []descriptor{listed}})
	saved, errSaved := jsonBlob("", []map[string]any{{"Config": config.name(), "RepoTags": []string{tag}, "Layers": []string{layer.name()}}})
	entries := []entry{
		{name: "index.json", mode: 0o644, body: index.body},
		{name: "manifest.json", mode: 0o644, body: saved.body},
		{name: "oci-layout", mode: 0o644, body: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
	}
	for _, b := range []blob{layer, config, manifest} {
		entries = append(entries, entry{name: b.name(), mode: 0o644, body: b.body})
	}
	body, err := tarOf(withParents(entries), p.time)
	return pack{"robobatch-" + p.os + "-" + p.arch + ".oci.tar", body}, errors.Join(errIndex, errSaved, err)
}

// imageFiles returns the files of an image: the program, the files it needs to trust a store of objects, and
// places to write.
func imageFiles(p *program) []entry {
	return withParents([]entry{
		{name: "etc/passwd", mode: 0o644, body: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")},
		{name: "etc/group", mode: 0o644, body: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: authorities()},
		{name: "tmp/", mode: 0o777 | fs.ModeSticky},
		{name: "usr/bin/robobatch", mode: 0o755, body: p.binary},
		{name: "usr/share/doc/robobatch/LICENSE", mode: 0o644, body: p.license},
		{name: "usr/share/doc/robobatch/" + noticesName, mode: 0o644, body: p.notices},
		{name: "work/", mode: 0o755, owner: imageUser},
	})
}

// newImageConfig returns the settings that the program needs in a container.
func newImageConfig(p *program, diff string) *imageConfig {
	c := &imageConfig{Created: p.time, platform: platform{p.arch, p.os}}
	c.Config.User = "65532:65532"
	c.Config.Env = []string{"PATH=/usr/bin", "HOME=/tmp"}
	c.Config.Entrypoint = []string{"/usr/bin/robobatch"}
	c.Config.WorkingDir = "/work"
	c.Config.Labels = map[string]string{
		"org.opencontainers.image.title":    "robobatch",
		"org.opencontainers.image.version":  p.plain(),
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source":   homepage,
	}
	c.RootFS.Type = "layers"
	c.RootFS.DiffIDs = []string{diff}
	c.History = []imageHistory{{p.time, "make dist"}}
	return c
}

// imageTag returns a version as tags may have it.
func imageTag(version string) string { return strings.ReplaceAll(version, "+", "_") }

// authorities returns the roots that Mozilla trusts, apart from those that it trusts with a condition:
// a file of certificates has no place for one.
func authorities() []byte {
	var b bytes.Buffer
	b.WriteString("# The roots of Mozilla, from golang.org/x/crypto/x509roots/fallback. The list is under the MPL 2.0.\n")
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}

// jsonBlob returns a value as a blob.
func jsonBlob(kind string, value any) (blob, error) {
	body, err := json.Marshal(value)
	return newBlob(kind, body), err
}
