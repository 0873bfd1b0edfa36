package summary

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/zeebo/xxh3"
)

// ErrSeal is the error of a manifest that is not as it was written.
var ErrSeal = errors.New("its seal is broken or missing: it was altered, an older version wrote it, or it is no manifest of robobatch")

// The text before and after the hash of a seal.
const (
	before = ",\n  \"seal\": \""
	after  = "\"\n}\n"
)

// Text returns v, which is no empty struct, as sealed JSON.
func Text(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(text, []byte("\n}"))
	sum := Hash(body)
	return append(append(append(body, before...), sum...), after...), nil
}

// Read reads sealed JSON into v. It returns [ErrSeal], or an error of the JSON.
func Read(text []byte, v any) error {
	at := len(text) - len(before) - hex.EncodedLen(16) - len(after)
	if at < 0 {
		return ErrSeal
	}
	body := text[:at]
	if string(text[at:]) != before+Hash(body)+after {
		return ErrSeal
	}
	return json.Unmarshal(text, v)
}

// Hash returns the hash of bytes, as manifests have it.
func Hash(text []byte) string {
	sum := xxh3.Hash128(text).Bytes()
	return hex.EncodeToString(sum[:])
}
