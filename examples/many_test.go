package examples

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/output"
)

// workspace creates a directory with two robots.txt files and a list of URLs.
func workspace() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "robobatch-example-")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{
		"rules/https_example.com.txt":  robotsTxt,
		"rules/example.net/robots.txt": "User-agent: *\nDisallow: /*.pdf$\n",
		"urls.txt":                     "https://example.com/private/1\nhttps://example.com/\nhttp://example.net/a.pdf\nhttp://example.org/\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			log.Fatal(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}

// A printer is a Sink that prints each row.
type printer struct {
	store  *engine.Store
	lookup *engine.Lookup
}

func (p *printer) Write(b *engine.Batch) error {
	p.lookup.Use(b)
	agents := len(p.store.Options().Agents)
	for i := range b.Len() {
		for a, v := range b.Verdicts[i*agents:][:agents] {
			fmt.Printf("%d %s %s: %v, %v", b.Lines[i], b.URL(i), p.store.Options().Agents[a], v.Access, v.Reason)
			if v.Rule != engine.NoRule {
				rule := p.lookup.Rule(b.Rulings[i], a, v.Rule)
				fmt.Printf(" (line %d, %v)", rule.Line, rule)
			}
			fmt.Println()
		}
	}
	return nil
}

func (p *printer) Close() error { return nil }

// Decide many URLs with a directory of robots.txt files.
func Example_directory() {
	dir, remove := workspace()
	defer remove()
	rules, err := rulefiles.Find(filepath.Join(dir, "rules"), "")
	if err != nil {
		log.Fatal(err)
	}
	store, err := engine.BuildStore(rules.Responses(), engine.StoreOptions{Agents: []string{"*"}})
	if err != nil {
		log.Fatal(err)
	}
	urls, err := ingest.OpenLogs([]string{filepath.Join(dir, "urls.txt")}, ingest.LogOptions{})
	if err != nil {
		log.Fatal(err)
	}
	stats, err := engine.Run(context.Background(), store, urls, &printer{store, store.NewLookup()}, engine.Options{})
	if err = errors.Join(err, urls.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.URLs, "URLs,", stats.Denied, "denied")
	// Output:
	// 1 https://example.com/private/1 *: denied, rule (line 2, Disallow: /private/)
	// 2 https://example.com/ *: allowed, default
	// 3 http://example.net/a.pdf *: denied, rule (line 2, Disallow: /*.pdf$)
	// 4 http://example.org/ *: allowed, no_robots
	// 4 URLs, 2 denied
}

// Compile a directory of robots.txt files into a pack, and decide many URLs with it. A pack opens at
// once, for any agent, and loads rules when they are needed.
func Example_pack() {
	dir, remove := workspace()
	defer remove()
	rules, err := rulefiles.Find(filepath.Join(dir, "rules"), "")
	if err != nil {
		log.Fatal(err)
	}
	name := filepath.Join(dir, "rules.rbp")
	f, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	compiled, err := engine.WritePack(context.Background(), f, rules.Responses(), engine.PackOptions{})
	if err = errors.Join(err, f.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(compiled.Origins, "origins,", compiled.Texts, "texts")

	store, err := engine.OpenPack(name, engine.StoreOptions{Agents: []string{"Googlebot", "GPTBot"}})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	urls := &list{"https://example.com/private/1", "https://example.net/a.pdf"}
	if _, err := engine.Run(context.Background(), store, urls, &printer{store, store.NewLookup()}, engine.Options{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 origins, 2 texts
	// 1 https://example.com/private/1 Googlebot: denied, rule (line 2, Disallow: /private/)
	// 1 https://example.com/private/1 GPTBot: denied, rule (line 6, Disallow: /)
	// 2 https://example.net/a.pdf Googlebot: denied, rule (line 2, Disallow: /*.pdf$)
	// 2 https://example.net/a.pdf GPTBot: denied, rule (line 2, Disallow: /*.pdf$)
}

// A list is a Source of URLs in memory.
type list []string

func (l *list) Next(b *engine.Batch) bool {
	b.Reset()
	for i, url := range *l {
		b.AddURL([]byte(url), int64(i+1))
	}
	*l = nil
	return b.Len() > 0
}

func (l *list) Err() error   { return nil }
func (l *list) Close() error { return nil }

// Write the verdicts as Parquet, and read one of its columns.
func Example_parquet() {
	dir, remove := workspace()
	defer remove()
	store, err := engine.BuildStore(one("https://example.com", robotsTxt), engine.StoreOptions{Agents: []string{"Googlebot", "GPTBot"}})
	if err != nil {
		log.Fatal(err)
	}
	name := filepath.Join(dir, "verdicts.parquet")
	table, err := output.Create(name, nil, store, output.Options{Inputs: []string{"memory"}})
	if err != nil {
		log.Fatal(err)
	}
	defer table.Close() // drops it, unless it is committed
	urls := &list{"https://example.com/private/1", "https://example.com/"}
	if _, err := engine.Run(context.Background(), store, urls, table, engine.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := table.Commit(); err != nil {
		log.Fatal(err)
	}

	r, err := file.OpenParquetFile(name, false)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	schema := r.MetaData().Schema
	fmt.Print(r.NumRows(), " rows of")
	for i := range schema.NumColumns() {
		fmt.Print(" ", schema.Column(i).Name())
	}
	fmt.Println()
	// Output:
	// 4 rows of line input url origin agent allowed reason rule_line rule
}
