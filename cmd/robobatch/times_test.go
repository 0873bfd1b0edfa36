package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// A timeMaker makes the times of a log, in any year from 1 to 9999.
type timeMaker struct{ rng *rand.Rand }

// ends are the earliest and the latest times that logs can have.
var ends = []time.Time{
	time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(1677, 9, 21, 0, 12, 43, 0, time.UTC), time.Unix(-1, 0).UTC(), time.Unix(0, 0).UTC(),
	time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), time.Date(2262, 4, 11, 23, 47, 17, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
}

// moment returns any time.
func (m timeMaker) moment() time.Time {
	if m.rng.IntN(3) == 0 {
		return ends[m.rng.IntN(len(ends))]
	}
	first, last := ends[0].Unix(), ends[len(ends)-1].Unix()
	return time.Unix(first+m.rng.Int64N(last-first), m.rng.Int64N(1e6)*1e3).UTC()
}

// times returns n times that are equal, close together, within a few years, or arbitrary; in random, ascending or
// descending order.
func (m timeMaker) times(n int) []time.Time {
	from, to := m.moment(), m.moment()
	kind := m.rng.IntN(5)
	all := make([]time.Time, n)
	for i := range all {
		switch kind {
		case 0:
			all[i] = from
		case 1:
			all[i] = from.Add(time.Duration(m.rng.Int64N(int64(40 * 24 * time.Hour))))
		case 2:
			all[i] = []time.Time{from, to}[m.rng.IntN(2)]
		case 3:
			all[i] = from.Add(time.Duration(m.rng.Int64N(int64(time.Hour))))
			if m.rng.IntN(30) == 0 {
				all[i] = to
			}
		default:
			all[i] = m.moment()
		}
		if last := ends[len(ends)-1]; all[i].After(last) {
			all[i] = last
		}
	}
	switch m.rng.IntN(3) {
	case 0:
		slices.SortFunc(all, time.Time.Compare)
	case 1:
		slices.SortFunc(all, func(a, b time.Time) int { return b.Compare(a) })
	}
	return all
}

// text formats a time as in a log, in any zone. In another zone, the first and the last hours may have the year 0 or
// 10000.
func (m timeMaker) text(at time.Time) string {
	if m.rng.IntN(3) == 0 {
		zoned := at.In(time.FixedZone("", (m.rng.IntN(27)-13)*3600))
		if y := zoned.Year(); y >= 0 && y <= 9999 {
			return zoned.Format(time.RFC3339Nano)
		}
	}
	if m.rng.IntN(10) == 0 {
		return at.Format("2006-01-02T15:04:05") + []string{"-23:59", "+23:59"}[m.rng.IntN(2)]
	}
	return at.Format(time.RFC3339Nano)
}

// writeTimes writes a log of extreme times, and captures before.jsonl and after.jsonl of such times.
func writeTimes(t *testing.T, seed uint64) {
	t.Helper()
	m := timeMaker{rand.New(rand.NewPCG(seed, 51))}
	origins := []string{"https://a.example", "https://b.example", "http://c.example:8080"}
	agents := []string{
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0",
	}
	var log strings.Builder
	for _, at := range m.times(1 + m.rng.IntN(80)) {
		row := map[string]any{
			"url": origins[m.rng.IntN(3)] + []string{"/robots.txt", "/x/1", "/x/2?a=1", "/y", "/"}[m.rng.IntN(5)], "user_agent": agents[m.rng.IntN(4)],
			"status": []int{200, 200, 200, 304, 404, 503}[m.rng.IntN(6)], "bytes": m.rng.IntN(1e5), "ts": m.text(at),
		}
		if m.rng.IntN(30) == 0 {
			delete(row, "ts")
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(line, '\n'))
	}
	writeFile(t, "log.jsonl", log.String())
	for _, name := range []string{"before.jsonl", "after.jsonl"} {
		var captures strings.Builder
		for _, origin := range origins {
			for i, at := range m.times(1 + m.rng.IntN(4)) {
				row := map[string]any{"origin": origin, "status": 200, "body": fmt.Sprintf("User-agent: *\nCrawl-delay: %d\nDisallow: /x\n%s", i+1, []string{"", "Disallow: /y\n"}[i%2])}
				if m.rng.IntN(6) == 0 {
					row["status"], row["body"] = 503, ""
				}
				if at.IsZero() { // which is an unknown time
					at = at.Add(time.Microsecond)
				}
				row["fetched_at"] = at.Format(time.RFC3339Nano)
				line, err := json.Marshal(row)
				if err != nil {
					t.Fatal(err)
				}
				captures.Write(append(line, '\n'))
			}
		}
		writeFile(t, name, captures.String())
	}
}

// timeCommands are the commands that read times of logs or captures.
var timeCommands = []string{
	"-rules after.jsonl -in log.jsonl -agent-from-log -as-of log -out x.csv -report x.html -what-if off -stats x.json -timezone ZONE -keep ts",
	"-rules after.jsonl -in log.jsonl -agent * -as-of log -sort origin -out x.parquet -keep ts:time",
	"-rules after.jsonl -in log.jsonl -agent-from-log -partition-by date -out parts/ -out-format jsonl -timezone ZONE",
	"report -rules after.jsonl -in log.jsonl -agent-from-log -as-of log -out r.html -what-if off -timezone ZONE",
	"report -rules after.jsonl -in log.jsonl -agent-from-log -out r2.html -what-if off",
	"report -old before.jsonl -rules after.jsonl -in log.jsonl -agent-from-log -as-of log -out r3.html -what-if off",
	"report -rules after.jsonl -in log.jsonl -agent GPTBot,bingbot -out r4.html",
	"conduct -rules after.jsonl -in log.jsonl -print json -out c.jsonl -rows c-rows.csv -changes c-changes.parquet",
	"conduct -rules after.jsonl -in log.jsonl",
	"diff -old before.jsonl -rules after.jsonl -in log.jsonl -agent-from-log -as-of log -print json -report d.html -what-if off",
	"diff -old before.jsonl -rules after.jsonl -in log.jsonl -print markdown",
	"coverage -rules after.jsonl -in log.jsonl -agent-from-log -as-of log -print json -out cov.jsonl",
	"coverage -rules after.jsonl -in log.jsonl",
	"rules -rules after.jsonl -as-of MOMENT -out rules.parquet",
	"explain -rules after.jsonl -as-of MOMENT -agent GPTBot -print json https://a.example/x/1",
	"lint -rules after.jsonl -as-of MOMENT -print json",
	"compile -rules after.jsonl -out x.rbp && report -rules x.rbp -in log.jsonl -agent-from-log -as-of log -out r5.html -what-if off",
}

// backwards matches an amount of time that is negative.
var backwards = regexp.MustCompile(`(^|[\s(:])-\d[\d,.]* ?(days?|hours?|h|min(utes?)?|s|seconds?)\b|"[a-z_]*seconds[a-z_]*": ?-\d`)

// TestExtremeTimes runs all commands that read times on logs with times in any year from 1 to 9999: no command may
// fail, and no duration may be negative. Normally, a third of the commands runs on each log; `make times` runs all of
// them on 1,000 logs.
func TestExtremeTimes(t *testing.T) {
	logs, every := 15, 3
	if n, err := strconv.Atoi(os.Getenv("ROBOBATCH_TIMES")); err == nil {
		logs, every = n, 1
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for seed := range uint64(logs) {
		here := filepath.Join(dir, strconv.FormatUint(seed, 10))
		if err := os.Mkdir(here, 0o777); err != nil {
			t.Fatal(err)
		}
		t.Chdir(here)
		writeTimes(t, seed)
		rng := rand.New(rand.NewPCG(seed, 52))
		moment := ends[1+rng.IntN(len(ends)-1)].Format(time.RFC3339Nano)
		zone := []string{"UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin"}[rng.IntN(4)]
		values := strings.NewReplacer("MOMENT", moment, "ZONE", zone)
		for i, commands := range timeCommands {
			if (i+int(seed))%every > 0 {
				continue
			}
			for line := range strings.SplitSeq(values.Replace(commands), " && ") {
				code, out, messages := runIn(t, strings.Fields(line))
				if code != 0 {
					t.Errorf("log %d: robobatch %s: exit code %d\n%s", seed, line, code, messages)
				}
				for _, text := range []string{out, messages} {
					if found := backwards.FindString(text); found != "" && !strings.HasPrefix(line, "explain") { // which asks for moments before a capture
						t.Errorf("log %d: robobatch %s: %q in\n%s", seed, line, found, text)
					}
				}
			}
		}
		pages, err := filepath.Glob("*.html")
		if err != nil || len(pages) == 0 {
			t.Errorf("no page: %v", err)
		}
		for _, name := range pages {
			before, rest, _ := strings.Cut(readText(t, name), `id="what-if-module">`) // the text of a module may have any signs
			_, after, _ := strings.Cut(rest, "</script>")
			if found := backwards.FindString(before + after); found != "" {
				t.Errorf("log %d: %s has %q", seed, name, found)
			}
		}
		if t.Failed() {
			text, _ := os.ReadFile("log.jsonl")
			t.Fatalf("log %d:\n%.3000s", seed, text)
		}
		t.Chdir(dir)
		if err := os.RemoveAll(here); err != nil {
			t.Fatal(err)
		}
	}
}

// runIn runs the command in this process, and returns its exit code and its output.
func runIn(t *testing.T, arguments []string) (code int, out, messages string) {
	t.Helper()
	var files []*os.File
	for range 3 {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	code = run(arguments, console.Streams{In: files[0], Out: files[1], Err: files[2]})
	return code, readText(t, files[1].Name()), readText(t, files[2].Name())
}
