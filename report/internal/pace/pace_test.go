package pace

import (
	"testing"

	"github.com/robobatch/robobatch/engine"
)

// TestTooFast compares gaps with a delay.
func TestTooFast(t *testing.T) {
	p, g := &pace{last: engine.NoTime}, &gaps{}
	for _, at := range []int64{0, 1_900_000, 3_900_000, 5_950_000, 5_000_000, 5_000_000, 900_000_000} {
		p.addRequest(at, g)
	}
	for delay, want := range map[float64]int64{0: 0, 0.5: 1, 1.9: 1, 2: 2, 2.1: 4, 700: 5} {
		if fast, all := g.faster(delay); fast != want || all != 5 {
			t.Errorf("%g s: %d of %d, want %d of 5", delay, fast, all, want)
		}
	}
	if p.back != 1 || p.requests != 7 {
		t.Errorf("%+v", p)
	}
}

// TestJumbled holds that gaps are told only where the times are in order.
func TestJumbled(t *testing.T) {
	for back, jumbled := range map[int64]bool{0: false, 1: false, 20: false, 21: true, 500: true} {
		p := Pace{Requests: 1000, Back: back, Median: "1.0 s"}
		if p.Jumbled() != jumbled || (p.MedianText() == "1.0 s") == jumbled {
			t.Errorf("%d of 1000 go back: %v, %s", back, p.Jumbled(), p.MedianText())
		}
	}
}
