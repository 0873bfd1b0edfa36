package partition

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/zeebo/xxh3"
)

// HiveNull is the value of a directory for rows where the column is null.
const HiveNull = "__HIVE_DEFAULT_PARTITION__"

// MaxName is the longest name of a directory that file systems take, in bytes.
const MaxName = 255

// HiveName returns the name of a directory for rows with that value of a column, and whether the
// value had to be cut. Of a name that no file system takes, the end gives way to a hash of the
// value.
func HiveName(column string, value []byte, ok bool) (name string, cut bool) {
	if !ok || len(value) == 0 {
		return column + "=" + HiveNull, false
	}
	name = column + "=" + hiveEscape(string(value), runtime.GOOS == "windows")
	if len(name) <= MaxName {
		return name, false
	}
	hash := fmt.Sprintf("~%016x", xxh3.Hash(value))
	name = name[:MaxName-len(hash)]
	if i := strings.LastIndexByte(name, '%'); i >= len(name)-2 {
		name = name[:i]
	}
	return strings.ToValidUTF8(name, "") + hash, true
}

// The bytes that hiveEscape escapes. Spark on Windows escapes as much.
const (
	hiveEscaped    = "\"#%'*/:=?\\{[]^"
	windowsEscaped = hiveEscaped + " <>|"
)

// hiveEscape writes %XX in place of the bytes that Hive and Spark escape in names of directories.
// Characters beyond ASCII stay, as they take each %XX for a character. Windows takes fewer names: it
// drops a point at the end.
func hiveEscape(value string, windows bool) string {
	escaped := hiveEscaped
	if windows {
		escaped = windowsEscaped
	}
	var sb strings.Builder
	for i := range len(value) {
		b := value[i]
		if b < 0x20 || b == 0x7f || strings.IndexByte(escaped, b) >= 0 || windows && b == '.' && i == len(value)-1 {
			fmt.Fprintf(&sb, "%%%02X", b)
		} else {
			sb.WriteByte(b)
		}
	}
	return sb.String()
}
