package diff

import "testing"

// TestJudge checks which changes each kind of -fail counts, and that a share equal to the threshold passes.
func TestJudge(t *testing.T) {
	r := &Report{Unit: "request", Agents: []Agent{{
		Agent: "Googlebot", Requests: 1000,
		Closed: Count{Requests: 1}, Opened: Count{Requests: 20}, OtherRule: Count{Requests: 300}, OtherPreference: Count{Requests: 5},
	}}}
	for text, passes := range map[string]bool{
		"closed=1": true, "closed=0": false, "opened=20": true, "opened=19": false, "other_rule=300": true, "other_rule=299": false,
		"changed=321": true, "changed=320": false, "other_preference=5": true, "other_preference=4": false,
		"closed=0.1%": true, "closed=0.09%": false, "other_rule=30%": true, "changed=32.1%": true, "changed=32%": false,
		"closed:googlebot=0": false,
	} {
		parsed, err := gates.Parse([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		verdicts := judge(parsed, r)
		if len(verdicts) != 1 || verdicts[0].Passed != passes || verdicts[0].Of != 1000 {
			t.Errorf("%s: %+v, want %v", text, verdicts, passes)
		}
	}
}
