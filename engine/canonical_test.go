package engine

import (
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestCanonical checks the canonical URLs of a batch, for stores with and without Clean-param.
func TestCanonical(t *testing.T) {
	responses := func(yield func(robots.Response, error) bool) {
		_ = yield(robots.Response{
			Origin: "https://a.example", Status: 200,
			Body: []byte("User-agent: *\nDisallow: /x\nCLEAN-PARAM: ref&sid /shop/\n"),
		}, nil) && yield(robots.Response{
			Origin: "https://b.example", Status: 404,
			Body: []byte("Clean-param: ref\n"),
		}, nil)
	}
	tests := []struct{ url, want string }{
		{"https://a.example/shop/b?ref=1&id=2&sid=3#top", "https://a.example/shop/b?id=2#top"},
		{"https://A.example:443/shop/?sid", "https://A.example:443/shop/"},
		{"https://a.example/shop/b?id=2", "https://a.example/shop/b?id=2"},
		{"https://a.example/blog?ref=1", "https://a.example/blog?ref=1"},
		{"https://b.example/shop/?ref=1", "https://b.example/shop/?ref=1"}, // it has no robots.txt
		{"https://c.example/shop/?ref=1", "https://c.example/shop/?ref=1"}, // no rules
		{"not a URL?ref=1", ""},
	}
	for _, canonical := range []bool{false, true} {
		opt := StoreOptions{Dialect: robots.Yandex}
		if canonical {
			opt.Directives = []robots.Directive{robots.CleanParamLines}
		}
		s, err := BuildStore(responses, opt)
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		e := s.NewEvaluator()
		for range 2 { // the batch is reused
			b.Reset()
			for i, tt := range tests {
				b.URLs = append(b.URLs, Span{uint32(len(b.Data)), uint32(len(tt.url))})
				b.Data = append(b.Data, tt.url...)
				b.Lines = append(b.Lines, int64(i+1))
			}
			e.Evaluate(&b)
			if !canonical {
				if len(b.Canonicals) != 0 {
					t.Errorf("%d canonical URLs, although the store has no Clean-param", len(b.Canonicals))
				}
				continue
			}
			for i, tt := range tests {
				span := b.Canonicals[i]
				if got := string(b.Data[span.Off : span.Off+span.Len]); got != tt.want {
					t.Errorf("%s: canonical %q, want %q", tt.url, got, tt.want)
				}
				if got := string(b.URL(i)); got != tt.url {
					t.Errorf("%s became %q", tt.url, got)
				}
			}
		}
	}
}
