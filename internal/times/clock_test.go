package times

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

// TestShown compares with package time, at random times and around each change of the offset.
func TestShown(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 34))
	for _, name := range []string{"", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca"} {
		loc, err := ParseZone(name)
		if err != nil {
			t.Fatal(err)
		}
		clock := NewClock(loc)
		at := time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC)
		times := []time.Time{at}
		for range 2000 {
			times = append(times, at.Add(time.Duration(rng.Int64N(int64(45*365*24*time.Hour)))))
		}
		for next := at.In(loc); ; {
			_, to := next.ZoneBounds()
			if to.IsZero() || to.Year() > 2040 || !to.After(next) {
				break
			}
			times = append(times, to.Add(-time.Microsecond), to, to.Add(time.Microsecond))
			next = to
		}
		for _, one := range times {
			want := one.In(loc).Format("2006-01-02 15:04:05.000000")
			if got := clock.Time(one).Format("2006-01-02 15:04:05.000000"); got != want {
				t.Fatalf("%s at %s: %s, want %s", name, one, got, want)
			}
			if clock.Shown(one.UnixMicro()) != clock.Time(one).UnixMicro() {
				t.Fatalf("%s at %s", name, one)
			}
		}
	}
}

// TestParseZone tests that unknown time zones and "Local" are rejected.
func TestParseZone(t *testing.T) {
	for name, want := range map[string]string{"Local": "depends on the machine", "Berlin": "IANA database", "../etc/passwd": "IANA database", "CEST": "IANA database"} {
		if _, err := ParseZone(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
