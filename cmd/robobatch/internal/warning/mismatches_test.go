package warning

import (
	"strings"
	"testing"

	"github.com/robobatch/robobatch/conduct"
)

// TestMismatches checks that the warning gives only the number of requests that were judged unseen. Other crawlers
// may have known the text.
func TestMismatches(t *testing.T) {
	all := []conduct.Mismatch{
		{Origin: "https://a.example", Answers: 2, Compared: 9, Size: 10, Text: 99, Unseen: 3, Knew: 7134},
		{Origin: "https://b.example", Hidden: 5, Busy: 4, Asked: 1},
	}
	got := Mismatches(all)
	if len(got) != 2 || got[0].Code != UnlikeAnswers || got[1].Code != NoRobotsRequests {
		t.Fatalf("got %+v", got)
	}
	if text := got[0].Text; strings.Contains(text, "nothing is known") || !strings.Contains(text, "so 3 disallowed requests were judged unseen") || got[0].Count != 2 {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Count != 5 || len(got[1].Examples) != 1 || got[1].Examples[0] != "https://b.example: 1 of 4 crawlers with 20 or more requests" {
		t.Errorf("got %+v", got[1])
	}
	if all[0].Disproves() || all[1].Disproves() || !(&conduct.Mismatch{Denied: 1}).Disproves() {
		t.Error("only answers by which nobody knew the text disprove it")
	}
}
