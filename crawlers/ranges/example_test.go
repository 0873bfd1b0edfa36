package ranges_test

import (
	"fmt"
	"time"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
)

// Two requests name Googlebot: one from its addresses, and one from elsewhere.
func Example() {
	lists, err := ranges.Load(ranges.Options{Paths: []string{"testdata"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, _ := crawlers.Identify([]byte("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"))
	at := time.Date(2026, 8, 14, 12, 0, 0, 0, time.UTC).UnixMicro()
	for _, client := range []string{"66.249.64.5", "45.90.1.7"} {
		answer, proof := lists.Verify(lists.Speaker(c.Token), ranges.ParseAddress([]byte(client)), at)
		fmt.Println(c.Token, client, answer, lists.ProofName(proof))
	}
	// Output:
	// Googlebot 66.249.64.5 yes googlebot.json 66.249.64.0/23
	// Googlebot 45.90.1.7 no
}
