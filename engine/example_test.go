package engine_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/robots"
)

// fetched yields what a crawler has fetched: a robots.txt, and a server error.
func fetched() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		_ = yield(robots.Response{
			Origin: "https://www.example.com", Status: 200,
			Body: []byte("User-agent: *\nDisallow: /private\nAllow: /private/press\n"),
		}, nil) && yield(robots.Response{Origin: "https://down.example", Status: 503}, nil)
	}
}

// Evaluate single URLs, and print the deciding rule, its line, and the reason.
func ExampleStore_Verdict() {
	store, err := engine.BuildStore(fetched(), engine.StoreOptions{Agents: []string{"ExampleBot"}})
	if err != nil {
		panic(err)
	}
	for _, url := range []string{
		"https://www.example.com/private/x",
		"https://www.example.com/private/press/1",
		"https://www.example.com/",
		"https://down.example/",
		"https://unknown.example/",
	} {
		v, err := store.Verdict(url, "ExampleBot")
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %s, %s", url, v.Access, v.Reason)
		if v.Reason == engine.ReasonRule {
			fmt.Printf(", line %d: %s", v.Rule.Line, v.Rule)
		}
		fmt.Println()
	}
	// Output:
	// https://www.example.com/private/x: denied, rule, line 2: Disallow: /private
	// https://www.example.com/private/press/1: allowed, rule, line 3: Allow: /private/press
	// https://www.example.com/: allowed, default
	// https://down.example/: denied, unreachable
	// https://unknown.example/: allowed, no_robots
}

// urls is a Source of a list of URLs.
type urls []string

func (s *urls) Next(b *engine.Batch) bool {
	b.Reset()
	for i, url := range *s {
		b.AddURL([]byte(url), int64(i+1))
	}
	*s = nil
	return b.Len() > 0
}

func (*urls) Err() error   { return nil }
func (*urls) Close() error { return nil }

// printer is a Sink that prints each row with the deciding rule.
type printer struct{ lookup *engine.Lookup }

func (p printer) Write(b *engine.Batch) error {
	p.lookup.Use(b)
	for i, v := range b.Verdicts {
		fmt.Printf("%d %s %s", b.Lines[i], v.Access, v.Reason)
		if v.Rule != engine.NoRule {
			rule := p.lookup.Rule(b.Rulings[i], 0, v.Rule)
			fmt.Printf(" (line %d: %s)", rule.Line, rule)
		}
		fmt.Println()
	}
	return nil
}

func (printer) Close() error { return nil }

// Decide many URLs with a directory of robots.txt files, in parallel and in order.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	text := []byte("User-agent: *\nDisallow: /*.pdf$\n")
	if err := os.WriteFile(filepath.Join(dir, "www.example.com.txt"), text, 0o600); err != nil {
		panic(err)
	}

	files, err := rulefiles.Find(dir, "")
	if err != nil {
		panic(err)
	}
	store, err := engine.BuildStore(files.Responses(), engine.StoreOptions{})
	if err != nil {
		panic(err)
	}
	source := &urls{"https://www.example.com/a.pdf", "https://www.example.com/a.html"}
	stats, err := engine.Run(context.Background(), store, source, printer{store.NewLookup()}, engine.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(stats.Denied, "of", stats.Rows, "denied")
	// Output:
	// 1 denied rule (line 2: Disallow: /*.pdf$)
	// 2 allowed default
	// 1 of 2 denied
}

// Compile rules to a pack once, and use the pack.
func ExampleOpenPack() {
	f, err := os.CreateTemp("", "*.rbp")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := engine.WritePack(context.Background(), f, fetched(), engine.PackOptions{}); err != nil {
		panic(err)
	}

	store, err := engine.OpenPack(f.Name(), engine.StoreOptions{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	v, err := store.Verdict("https://www.example.com/private/x", "*")
	if err != nil {
		panic(err)
	}
	fmt.Println(v.Access, v.Rule)
	// Output: denied Disallow: /private
}
