package engine

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// TestPackScale compiles a million origins with different texts, and evaluates URLs of all of them, once without a
// memory limit and once with a limit that has room for a tenth of the rules. It needs ROBOBATCH_SCALE=1 and half a
// gigabyte of disk space.
func TestPackScale(t *testing.T) {
	if os.Getenv("ROBOBATCH_SCALE") != "1" {
		t.Skip("needs half a gigabyte of disk space and some minutes: set ROBOBATCH_SCALE=1 to run it")
	}
	const origins = 1_000_000
	f, err := os.Create(filepath.Join(t.TempDir(), "x.rbp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stats, err := WritePack(t.Context(), f, manyOrigins(origins), PackOptions{Dialect: robots.Google})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", stats)
	if stats.Origins != origins || stats.Texts != origins {
		t.Fatalf("%+v", stats)
	}
	for _, limit := range []int64{0, 256 << 20} {
		started := time.Now()
		s, err := OpenPack(f.Name(), StoreOptions{Dialect: robots.Google, MaxMemory: limit})
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(s, "https://h7.example/own7/x"); got != "deny rule Disallow: /own7/; " {
			t.Fatal(got)
		}
		ready := time.Since(started)
		e := s.NewEvaluator()
		for first := 0; first < origins; first += 1000 {
			b := &Batch{}
			for i := range 1000 {
				n := (first + i) * 7919 % origins // in another order than in the pack
				appendRow(b, fmt.Sprintf("https://h%d.example/own%d/x", n, n+i%2), 1)
			}
			e.Evaluate(b)
			for i, v := range b.Verdicts {
				if want := [...]Reason{ReasonRule, ReasonDefault}[i%2]; v.Reason != want {
					t.Fatalf("%s: reason %s, want %s", b.URL(i), v.Reason, want)
				}
			}
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("limit %d MiB: ready after %v, %d MiB in use at the end", limit>>20, ready, m.HeapAlloc>>20)
		if limit > 0 && int64(m.HeapAlloc) > limit/2 {
			t.Errorf("%d MiB are in use, the limit is %d", m.HeapAlloc>>20, limit>>20)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// manyOrigins yields n responses with different rules.
func manyOrigins(n int) iter.Seq2[robots.Response, error] {
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	return func(yield func(robots.Response, error) bool) {
		for i := range n {
			body := fmt.Appendf(nil, "User-agent: *\nDisallow: /own%d/\nDisallow: /wp-admin/\nAllow: /*.css$\nUser-agent: GPTBot\nDisallow: /\n", i)
			r := robots.Response{Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: 200, FetchedAt: at, Body: body}
			if !yield(r, nil) {
				return
			}
		}
	}
}
