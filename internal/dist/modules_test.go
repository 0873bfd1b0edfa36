package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotices asks each program that was linked for its modules, and looks for their terms.
func TestNotices(t *testing.T) {
	b := builtHere(t)
	for _, to := range targetsHere() {
		p := program{release: b.release, target: to}
		p.readModules()
		text, err := render(noticesName, &p)
		if err := errors.Join(p.err, err); err != nil {
			t.Fatal(err)
		}
		info, err := buildinfo.ReadFile(filepath.Join(b.dir, to.OS+"-"+to.Arch, to.name()))
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		for part := range strings.SplitSeq(string(text), "\n"+strings.Repeat("=", 80)+"\n") {
			title, body, _ := strings.Cut(part, "\n")
			parts[title] = body
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				t.Fatalf("%s is replaced: say whose terms count", m.Path)
			}
			body := parts[m.Path+" "+m.Version]
			if !licence.MatchString(body) && !strings.Contains(body, "The text is that of ") {
				t.Errorf("%s: no terms of %s %s", to, m.Path, m.Version)
			}
		}
		if len(info.Deps) == 0 || !strings.Contains(parts["std "+strings.TrimPrefix(info.GoVersion, "go")], "Google") {
			t.Errorf("%s: %d modules; no terms of %s", to, len(info.Deps), info.GoVersion)
		}
		// The sections are those modules, Go, and the words before them.
		if len(parts) != len(info.Deps)+2 {
			t.Errorf("%s: %d sections for %d modules", to, len(parts), len(info.Deps))
		}
	}
}

// TestNoTerms has a module without a licence, and such as have one that is easy to miss.
func TestNoTerms(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any person"
	for _, test := range []struct {
		files map[string]string
		want  string // the names of the texts; "" is an error
	}{
		{map[string]string{"README.md": "A library.\n", "lib.go": "package lib // " + mit}, ""},
		{map[string]string{"AUTHORS": "A. N. Author", "lib.go": ""}, ""},
		{map[string]string{"README.md": "# Lib\n\n## License\n\nAsk me.\n"}, ""},
		{map[string]string{"README.md": "# Lib\n\n## MIT License\n\n" + mit}, "README.md"},
		{map[string]string{"LICENCE.txt": mit, "sub/NOTICE": "names", "sub/lib.go": ""}, "LICENCE.txt sub/NOTICE"},
		{map[string]string{"COPYING": mit, "license.go": "package lib"}, "COPYING"},
	} {
		m := linked{Path: "example.com/lib", dir: t.TempDir()}
		for name, text := range test.files {
			name = filepath.Join(m.dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		err := m.readTexts()
		if err != nil {
			m.Texts = nil
		}
		names := make([]string, len(m.Texts))
		for i := range m.Texts {
			names[i] = m.Texts[i].Name
		}
		if got := strings.Join(names, " "); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%v: %q, %v; want %q", test.files, got, err, test.want)
		}
	}
}
