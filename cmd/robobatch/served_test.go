//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// The test binary, called robobatch-served, is the command for very many runs: it takes them from descriptor 3 and
// answers on descriptor 4, in JSON, and so no run waits for a process to start. bench/attack has
// it run damaged inputs.

// A servedRun is a run that is asked for. In an argument, /dev/fd/3 is a pipe whose text is answered as Third.
type servedRun struct {
	Arguments []string
	Stdin     []byte
}

// A servedAnswer is how a run ended. Last is whether the process ends, too.
type servedAnswer struct {
	Code               int
	Stdout, Err, Third []byte
	Last               bool
}

// servedMost is how many runs share a process, so that no harm of one lasts.
const servedMost = 500

func init() { testCommands["robobatch-served"] = serve }

// serve answers runs until there are no more, or enough.
func serve() {
	signal.Ignore(syscall.SIGPIPE) // as main does
	in, out := json.NewDecoder(os.NewFile(3, "runs")), json.NewEncoder(os.NewFile(4, "answers"))
	for n := 1; n <= servedMost; n++ {
		var asked servedRun
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		answer, err := serveOne(asked)
		if err != nil {
			panic(err)
		}
		answer.Last = n == servedMost
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}

// serveOne is one run, whose standard streams are pipes.
func serveOne(asked servedRun) (answer servedAnswer, err error) {
	debug.SetMemoryLimit(math.MaxInt64) // -max-memory of an earlier run sets another
	var readers, writers [4]*os.File    // of the descriptors of a process
	for i := range readers {
		if readers[i], writers[i], err = os.Pipe(); err != nil {
			return answer, err
		}
	}
	// A process is given descriptors that stay open on exec, and the command takes no other.
	third := writers[3].Fd()
	if _, err := unix.FcntlInt(third, unix.F_SETFD, 0); err != nil {
		return answer, err
	}
	arguments := slices.Clone(asked.Arguments)
	for i, argument := range arguments {
		if argument == "/dev/fd/3" {
			arguments[i] = "/dev/fd/" + strconv.FormatUint(uint64(third), 10)
		}
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		writers[0].Write(asked.Stdin)
		writers[0].Close()
	})
	for i, text := range map[int]*[]byte{1: &answer.Stdout, 2: &answer.Err, 3: &answer.Third} {
		wait.Go(func() {
			b, err := io.ReadAll(readers[i])
			if *text = b; err != nil {
				panic(err)
			}
		})
	}
	before := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}
	os.Stdin, os.Stdout, os.Stderr = readers[0], writers[1], writers[2]
	answer.Code = run(arguments, console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	os.Stdin, os.Stdout, os.Stderr = before[0], before[1], before[2]
	for _, f := range []*os.File{readers[0], writers[1], writers[2], writers[3]} {
		f.Close()
	}
	wait.Wait()
	for _, f := range readers[1:] {
		f.Close()
	}
	return answer, nil
}

// TestServe holds that a run that shares its process with others is as one of its own: output, messages, exit code
// and the bytes on a third descriptor.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/robots.txt", []byte("User-agent: *\nDisallow: /private\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	arguments := []string{
		"-rules", dir + "/robots.txt", "-origin", "https://www.example.com", "-in", "-", "-out", "-", "-out-format", "csv",
		"-columns", "url,allowed", "-stats", "/dev/fd/3", "-quiet",
	}
	for i, tt := range []struct {
		more        []string
		stdin, want string
		code        int
	}{
		{nil, "https://www.example.com/private/a\n", "url,allowed\nhttps://www.example.com/private/a,false\n", 0},
		{[]string{"-max-memory", "64MiB"}, "https://www.example.com/b\n", "url,allowed\nhttps://www.example.com/b,true\n", 0},
		{[]string{"-no-such-flag"}, "https://www.example.com/b\n", "", 2},
		{nil, "https://www.example.com/c\n", "url,allowed\nhttps://www.example.com/c,true\n", 0},
	} {
		answer, err := serveOne(servedRun{append(slices.Clone(arguments), tt.more...), []byte(tt.stdin)})
		if err != nil {
			t.Fatal(err)
		}
		if string(answer.Stdout) != tt.want || answer.Code != tt.code {
			t.Errorf("run %d: exit code %d, output %q, want %d, %q; %s", i, answer.Code, answer.Stdout, tt.code, tt.want, answer.Err)
		}
		if ok := tt.code == 0; ok != (len(answer.Third) > 0) || ok != (len(answer.Err) == 0) {
			t.Errorf("run %d: statistics %q, messages %q", i, answer.Third, fmt.Sprintf("%.100s", answer.Err))
		}
	}
}
