package pipe

import (
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
)

// TestVectorBehindMessage tests that a vector which extends beyond its message is detected, even if there is memory
// after the message.
func TestVectorBehindMessage(t *testing.T) {
	b := flatbuffers.NewBuilder(0)
	list := b.CreateByteVector(make([]byte, 40))
	b.StartObject(1)
	b.PrependUOffsetTSlot(0, list, 0)
	b.Finish(b.EndObject())
	message := b.FinishedBytes()
	if data, n := root(message).vector(0, 1); n != 40 || len(data) != 40 {
		t.Fatalf("%d bytes of %d", len(data), n)
	}
	cut := append(message[:len(message):len(message)], make([]byte, 100)...)[:len(message)-1]
	err := recoverDamage(func() error {
		root(cut).vector(0, 1)
		return nil
	})
	if err == nil {
		t.Error("a vector reaches behind its message")
	}
}
