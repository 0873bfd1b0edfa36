package partition

import "testing"

// TestHiveEscape has names that Windows does not take, or takes for others.
func TestHiveEscape(t *testing.T) {
	for _, test := range []struct{ value, want, windows string }{
		{"https://a.example:80", "https%3A%2F%2Fa.example%3A80", "https%3A%2F%2Fa.example%3A80"},
		{"a b<c>d|e", "a b<c>d|e", "a%20b%3Cc%3Ed%7Ce"},
		{"a..", "a..", "a.%2E"},
		{".", ".", "%2E"},
		{"a ", "a ", "a%20"},
	} {
		if got := hiveEscape(test.value, false); got != test.want {
			t.Errorf("%q is %q, want %q", test.value, got, test.want)
		}
		if got := hiveEscape(test.value, true); got != test.windows {
			t.Errorf("%q is %q on Windows, want %q", test.value, got, test.windows)
		}
	}
}
