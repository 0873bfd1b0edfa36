package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is the context of the Chromium that all tests share; nil if it is not installed.
var browser context.Context

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// command is the path of the command under test, built once.
var command string

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "robobatch-page-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "robobatch")
	build := exec.Command("go", "build", "-o", command, "./cmd/robobatch")
	build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build, err, out)
		return 2
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return m.Run()
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900),
		chromedp.WSURLReadTimeout(15*time.Minute))
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		return 2
	}
	browser = ctx
	return m.Run()
}

// skip skips the test, but fails it in CI, where everything is installed.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// A tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	address  string   // without a fragment
	requests []string // for anything else
	faults   []string // complaints of the browser
}

// open opens a file in a new tab, after the actions. fragment is appended to its address; it may be empty. The page
// must not make a request or cause a browser error until the end of the test.
func open(t *testing.T, file, fragment string, before ...chromedp.Action) *tab {
	t.Helper()
	tb := openUnchecked(t, file, fragment, before...)
	t.Cleanup(tb.check)
	return tb
}

// openUnchecked is open without these checks.
func openUnchecked(t *testing.T, file, fragment string, before ...chromedp.Action) *tab {
	t.Helper()
	if browser == nil {
		skip(t, "Chromium is not installed")
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, time.Hour) // ends only what hangs
	t.Cleanup(stop)
	tb := &tab{t: t, ctx: ctx, address: (&url.URL{Scheme: "file", Path: file}).String()}
	chromedp.ListenTarget(ctx, tb.listen)
	tb.do(network.Enable(), runtime.Enable(), log.Enable(), page.Enable())
	tb.do(before...)
	tb.do(chromedp.Navigate(tb.address + fragment))
	return tb
}

// listen records requests and errors of the page.
func (tb *tab) listen(event any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL != tb.address {
			tb.requests = append(tb.requests, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		tb.faults = append(tb.faults, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		tb.faults = append(tb.faults, fmt.Sprintf("%s: %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text))
	case *runtime.EventConsoleAPICalled:
		text := []string{"console:", string(e.Type)}
		for _, arg := range e.Args {
			text = append(text, string(arg.Value)+arg.Description)
		}
		tb.faults = append(tb.faults, strings.Join(text, " "))
	case *page.EventJavascriptDialogOpening:
		tb.faults = append(tb.faults, "a dialog: "+e.Message)
	}
}

// check fails the test if the page made a request or caused an error.
func (tb *tab) check() {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, r := range tb.requests {
		tb.t.Errorf("the page asked for %.200s", r)
	}
	for _, f := range tb.faults {
		tb.t.Errorf("the browser complains: %s", f)
	}
}

// do runs actions.
func (tb *tab) do(actions ...chromedp.Action) {
	tb.t.Helper()
	if err := chromedp.Run(tb.ctx, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

// eval evaluates an expression, waits if it is a promise, and stores its value in result.
func (tb *tab) eval(expression string, result any) {
	tb.t.Helper()
	wait := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Run(tb.ctx, chromedp.Evaluate(expression, result, wait)); err != nil {
		tb.t.Fatalf("%.200s: %v", expression, err)
	}
}

// text evaluates an expression that is a string.
func (tb *tab) text(expression string) (s string) {
	tb.t.Helper()
	tb.eval(expression, &s)
	return s
}

// until waits until an expression is true.
func (tb *tab) until(expression string) {
	tb.t.Helper()
	deadline := time.Now().Add(15 * time.Minute)
	for {
		var ok bool
		tb.eval("!!("+expression+")", &ok)
		if ok {
			return
		}
		if time.Now().After(deadline) {
			tb.t.Fatalf("never true: %s\n%s", expression, tb.text("document.body.innerText.slice(0, 3000)"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// literal returns a value as a JavaScript expression.
func literal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// axe checks the page with axe-core, and fails the test for serious violations.
func (tb *tab) axe() {
	tb.t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "node", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		skip(tb.t, "axe-core is not installed: run npm install in e2e/node")
	}
	var loaded bool
	tb.eval(string(source)+"\n;true", &loaded)
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	tb.eval(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations)`, &found)
	for _, v := range found {
		var nodes strings.Builder
		for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
			fmt.Fprintf(&nodes, "\n\t%s\n\t%s", n.HTML, n.FailureSummary)
		}
		if v.Impact == "serious" || v.Impact == "critical" {
			tb.t.Errorf("axe: %s, %s: %s%s", v.Impact, v.ID, v.Help, &nodes)
		} else {
			tb.t.Logf("axe: %s, %s: %s%s", v.Impact, v.ID, v.Help, &nodes)
		}
	}
}

// hash returns the hash of an inline script or style in the form of a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
