package show

import (
	"strings"
	"testing"
)

// TestWhole checks that long untrusted texts are truncated, and that the rest follows in the cell as hidden text.
func TestWhole(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	for text, want := range map[string]string{
		"/<b>":              "/&lt;b&gt;",
		"/a…":               "/a…",
		long:                long,
		long + "<i>":        long + `<span class="cut">…</span><span hidden>&lt;i&gt;</span>`,
		long + "\u202e":     long + `<span class="cut">…</span><span hidden>\u{202E}</span>`,
		"<" + long + "\xff": "&lt;" + long[1:] + `<span class="cut">…</span><span hidden>x%FF</span>`,
	} {
		if got := string(Whole(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestDated checks that dates do not break at the end of a line, and that the rest of a sentence is escaped.
func TestDated(t *testing.T) {
	for text, want := range map[string]string{
		"from 2026-10-03 to 2026-10-08, <b>":  `from <span class="nb">2026-10-03</span> to <span class="nb">2026-10-08</span>, &lt;b&gt;`,
		"at 2026-10-06 08:00":                 `at <span class="nb">2026-10-06 08:00</span>`,
		"line 7, `Disallow: /<b>`, and one `": `line 7, <code>Disallow: /&lt;b&gt;</code>, and one ` + "`",
		"12026-10-06":                         "12026-10-06",
	} {
		if got := string(Dated(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestSize writes numbers of bytes.
func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.00 kB", 99_950: "100.0 kB", 999_400: "999 kB", 999_600: "1.00 MB", 12_340_000_000: "12.3 GB", 5_000_000_000_000_000_000: "5000 PB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
