package page

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// update makes TestPictures update the pictures of the documents.
var update = flag.Bool("update", false, "write the pictures of docs anew")

// The size of the pictures.
const (
	pictureWidth  = 1200
	pictureHeight = 860
)

// TestPictures takes the pictures of the report in the documents. Fonts differ between machines,
// so only their sizes are compared.
func TestPictures(t *testing.T) {
	tb := open(t, cookbook(t, sitemaps...), "", emulation.SetDeviceMetricsOverride(pictureWidth, pictureHeight, 1, false))
	picture := func(name string) {
		t.Helper()
		var taken []byte
		tb.do(chromedp.CaptureScreenshot(&taken))
		file := filepath.Join("..", "..", "docs", "images", name)
		if *update {
			if err := os.WriteFile(file, taken, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		shown, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{taken, shown} {
			img, err := png.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if size := img.Bounds().Size(); size.X != pictureWidth || size.Y != pictureHeight || len(b) > 150_000 {
				t.Errorf("%s has %d by %d points, and %d bytes", name, size.X, size.Y, len(b))
			}
		}
	}
	tb.eval(`document.documentElement.style.scrollBehavior = "auto"`, nil)
	picture("report.png")
	tb.eval(`document.getElementById("what-if").scrollIntoView()`, nil)
	tb.started()
	tb.eval(`{
		const area = document.getElementById("what-if-text");
		area.rows = 12;
		area.value = area.value.replace("/misc/", "/blog/tags/");
		area.dispatchEvent(new Event("input", {bubbles: true}));
	}`, nil)
	tb.until(`document.querySelectorAll("#what-if-closed tbody tr").length > 0`)
	tb.eval(`document.getElementById("what-if-editor").scrollIntoView(); scrollBy(0, -150)`, nil)
	picture("what-if.png")
}
