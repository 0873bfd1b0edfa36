package process

import (
	"fmt"
	"syscall"
)

// minAddresses is the smallest address space, in bytes, that a run needs. Go reserves much more than it uses, and
// crashes with a dump if it cannot.
const minAddresses = 2500 << 20

// CheckAddresses returns an error if the address space of the process may be too small for a run.
func CheckAddresses() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= minAddresses {
		return nil //nolint:nilerr // the limit is unknown
	}
	return fmt.Errorf("ulimit -v limits the address space to %d KiB, but a run reserves up to %d KiB, most of it unused: raise the limit, and set -max-memory instead", limit.Cur>>10, minAddresses>>10)
}
