//go:build !linux

package process

// CheckAddresses returns nil: other systems do not limit the address space.
func CheckAddresses() error { return nil }
