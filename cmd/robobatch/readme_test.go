package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs every command of README.md, in order and in one directory, and compares the output with the block
// after the command. curl reaches a server of the test instead of the Internet.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "xargs", "sed", "awk", "gzip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("README.md uses %s: %v", tool, err)
		}
	}
	if options, err := exec.Command("curl", "--help", "all").Output(); err != nil || !bytes.Contains(options, []byte("--remove-on-error")) {
		t.Skip("README.md uses an option that this curl does not have: --remove-on-error")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	enterReadme(t)
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:```text\n(.*?)```\n)?").FindAllSubmatch(readme, -1) {
		script, want := string(block[1]), string(block[2])
		cmd := exec.Command("sh", "-e", "-c", script)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", script, err, out)
		}
		if want != "" && lasting(string(out)) != lasting(want) {
			t.Errorf("%s\nprints\n%s", script, out)
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("%d blocks of commands, want at least 5", ran)
	}
	for name, want := range map[string]string{
		"violations.csv":               "GPTBot",
		"changes.csv":                  "/new/a",
		"access.report.html":           "GPTBot",
		"robots/https_one.example.txt": "Disallow: /b",
	} {
		if got, err := os.ReadFile(name); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s has no %q: %v\n%s", name, want, err, got)
		}
	}
	names, _ := filepath.Glob("robots/*")
	if len(names) != 2 {
		t.Errorf("robots.txt of %v, want those of two sites", names)
	}
	for _, name := range []string{"cc.rbp", "urls.verdicts.parquet", "verdicts.parquet"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// lasting returns the part of a command's output that is the same on every machine. It removes times, memory, and the
// spaces that align them.
func lasting(text string) string {
	text = regexp.MustCompile(`(?m)^  [0-9.]+ s, .* of CPU, .*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(` +`).ReplaceAllString(text, " ")
}

// enterReadme makes a new directory with the files that the README expects, and changes into it. It starts a server
// with the files that the README downloads, and makes curl reach that server.
func enterReadme(t *testing.T) {
	t.Helper()
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	warc, err := os.ReadFile("../../ingest/testdata/warc/wget-1.warc.gz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Symlink(testdata, "testdata"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(sites(warc))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".curlrc":        fmt.Sprintf("insecure\nnoproxy = \"*\"\nconnect-to = \"::127.0.0.1:%s\"\n", port),
		"new-robots.txt": "User-agent: *\nDisallow: /new/\n",
		"urls.txt":       "https://one.example/a\nhttps://ONE.example/b\nhttps://two.example\nhttps://none.example/x\n",
		"access.log": `192.0.2.1 - - [31/Jan/2026:18:00:00 +0100] "GET /a HTTP/1.1" 200 9 "-" "Mozilla/5.0 (compatible; GPTBot/1.2)"` + "\n" +
			`192.0.2.1 - - [31/Jan/2026:18:00:01 +0100] "GET /b HTTP/1.1" 200 9 "-" "Mozilla/5.0 (compatible; GPTBot/1.2)"` + "\n" +
			`192.0.2.1 - - [31/Jan/2026:18:00:02 +0100] "GET /new/a HTTP/1.1" 200 9 "-" "Mozilla/5.0 (compatible; GPTBot/1.2)"` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CURL_HOME", dir)
}

// sites is the HTTP handler for the sites of the README: some have a robots.txt, one has none, and one has a file of
// captures.
func sites(warc []byte) http.Handler {
	const name = "/crawl-data/captures.warc.gz"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "data.commoncrawl.org" && strings.HasSuffix(r.URL.Path, "/robotstxt.paths.gz"):
			var list bytes.Buffer
			z := gzip.NewWriter(&list)
			_, _ = fmt.Fprintln(z, name[1:])
			_ = z.Close()
			_, _ = w.Write(list.Bytes())
		case r.Host == "data.commoncrawl.org" && r.URL.Path == name:
			_, _ = w.Write(warc)
		case r.Host != "none.example" && r.URL.Path == "/robots.txt":
			_, _ = fmt.Fprint(w, "User-agent: *\nDisallow: /b\nForbid: /c\n")
		default:
			http.NotFound(w, r)
		}
	})
}
