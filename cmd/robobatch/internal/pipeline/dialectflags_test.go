package pipeline

import (
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestDialectFlags checks that dialects are described by the flags in which they differ.
func TestDialectFlags(t *testing.T) {
	const wide, ignored = robots.WideTokens, robots.EmptyAllowIgnored
	for _, test := range []struct {
		d, other    robots.Dialect
		flags, back string
	}{
		{robots.Google, robots.RFC9309, "-dialect google", "-dialect rfc9309"},
		{robots.Google | wide, robots.Google, "-agent-chars extended", "-agent-chars standard"},
		{robots.Google, robots.Yandex | ignored | wide, "-dialect google -agent-chars standard", "-dialect yandex -agent-chars extended -yandex-empty-allow ignore"},
		{robots.Yandex, robots.Yandex | ignored, "-yandex-empty-allow disallow", "-yandex-empty-allow ignore"},
	} {
		if got, back := dialectFlags(test.d, test.other), dialectFlags(test.other, test.d); got != test.flags || back != test.back {
			t.Errorf("%v against %v: %q and %q", test.d, test.other, got, back)
		}
	}
}
