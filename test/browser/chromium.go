package browser

import (
	"context"
	_ "embed" // the accessibility checker
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Time limits: a cold start of the browser on a busy machine took 7 s.
const (
	startTimeout = time.Minute
	tabTimeout   = 2 * time.Minute
	pollInterval = 20 * time.Millisecond
)

//go:embed testdata/axe.min.js
var axeSource string

// Chromium is a running browser.
type Chromium struct {
	ctx  context.Context
	stop func()
}

// Start starts Chromium and waits until it answers. Call Stop at the end.
func Start(ctx context.Context) (*Chromium, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("the browser tests need Chromium; on Debian: apt-get install chromium fonts-dejavu-core: %w", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], // it is an array: this copies
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	allocator, free := chromedp.NewExecAllocator(ctx, options...)
	first, closeFirst := chromedp.NewContext(allocator)
	c := &Chromium{ctx: first, stop: func() { closeFirst(); free() }}
	ready := make(chan error, 1)
	go func() { ready <- chromedp.Do(first) }()
	select {
	case err = <-ready:
	case <-time.After(startTimeout):
		err = context.DeadlineExceeded
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return c, nil
}

// Stop ends the browser and removes its profile.
func (c *Chromium) Stop() { c.stop() }

// Tab is one tab with cookies and storage of its own. It belongs to one test; a failing step ends
// the test.
type Tab struct {
	t   testing.TB
	ctx context.Context
}

// Tab opens a tab that is closed when the test ends.
func (c *Chromium) Tab(t testing.TB) *Tab {
	t.Helper()
	tab, closeTab := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext())
	// The tab must open under a context without a deadline of its own: cancelling that closes it.
	if err := chromedp.Do(tab); err != nil {
		closeTab()
		t.Fatalf("open a tab: %v", err)
	}
	ctx, cancel := context.WithTimeout(tab, tabTimeout)
	t.Cleanup(func() { cancel(); closeTab() })
	return &Tab{t: t, ctx: ctx}
}

// Context is for steps that Tab has no method for.
func (b *Tab) Context() context.Context { return b.ctx }

// Do runs steps one after another.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// Open goes to a URL and waits until it has loaded.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Text evaluates an expression of the page that gives text.
func (b *Tab) Text(expression string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return text
}

// TextOf is what the element with an id says.
func (b *Tab) TextOf(id string) string {
	b.t.Helper()
	return b.Text(fmt.Sprintf("document.getElementById(%q).textContent", id))
}

// WaitFor waits until an expression of the page is true. The page may be left and loaded again
// meanwhile.
func (b *Tab) WaitFor(expression string) {
	b.t.Helper()
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok && err == nil {
			return
		}
		select {
		case <-b.ctx.Done():
			body, _ := chromedp.Run(context.WithoutCancel(b.ctx), chromedp.Evaluate[string]("document.body.innerText"))
			b.t.Fatalf("%s did not become true (%v); the page says:\n%s", expression, err, body)
		case <-time.After(pollInterval):
		}
	}
}

// NoScript turns JavaScript off for pages opened from now on.
func (b *Tab) NoScript() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	if err != nil {
		b.t.Fatalf("turn JavaScript off: %v", err)
	}
}

// Dark asks pages for their dark colours.
func (b *Tab) Dark() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	if err != nil {
		b.t.Fatalf("ask for dark colours: %v", err)
	}
}

// Violations runs axe over the page and lists what breaks WCAG 2.2 A or AA, one line each.
func (b *Tab) Violations() []string {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](axeSource+";0")); err != nil {
		b.t.Fatalf("load axe: %v", err)
	}
	const run = `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r =>
		JSON.stringify(r.violations.map(v => v.id + ": " + v.help + " at " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).join(", "))))`
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("run axe: %v", err)
	}
	var lines []string
	if err := json.Unmarshal([]byte(found), &lines); err != nil {
		b.t.Fatalf("read what axe found: %v", err)
	}
	return lines
}

// Screenshot is the visible part of the page as PNG.
func (b *Tab) Screenshot() []byte {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("screenshot: %v", err)
	}
	return png
}
