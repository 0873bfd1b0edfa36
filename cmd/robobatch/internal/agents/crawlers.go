package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/place"
)

// maxCrawlersFile is how many bytes a file of crawlers may have: far more than the crawlers that there
// may be.
const maxCrawlersFile = 4 << 20

// AddCrawlers adds the crawlers of a file to those that are known, see [crawlers.Add], and returns the
// SHA-256 of the file in hexadecimal. No name means no file.
func AddCrawlers(name string) (hash string, err error) {
	if name == "" {
		return "", nil
	}
	f, err := place.Open(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", say.File(name), atomicfile.Cause(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCrawlersFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", say.File(name), atomicfile.Cause(err))
	case len(text) > maxCrawlersFile:
		return "", fmt.Errorf("%s has over %d MiB: it is no table of crawlers", say.File(name), maxCrawlersFile>>20)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), crawlers.Add(say.File(name), text)
}
