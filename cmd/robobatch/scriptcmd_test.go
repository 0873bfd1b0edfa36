package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands for scripts in addition to those of testscript.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":            exits,
	"closedpipe":       closedPipe,
	"interrupt":        interrupt,
	"interruptLoading": interruptLoading,
	"blank":            writeBlank,
	"urls":             urls,
	"origins":          origins,
	"bytes":            writeBytes,
	"pack":             packFile,
	"zip":              zipFiles,
	"cut":              cut,
	"damage":           damage,
	"rows":             printRows,
	"metadata":         printMetadata,
	"samerows":         sameRows,
	"rulesare":         nameRules,
	"json":             printJSON,
	"store":            startStore,
	"storefail":        failStore,
	"objects":          getObjects,
	"object":           getObject,
	"putobject":        putObject,
	"uploads":          checkUploads,
	"interruptUpload":  interruptUpload,
	"requests":         checkRequests,
}

// scriptCondition evaluates the conditions root (the user ignores file permissions) and mount (the user may mount a
// file system).
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Getuid() == 0, nil
	case "mount":
		return exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=4k tmpfs /mnt").Run() == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// rulesare RULES: makes the link now.rbp point to a directory, a pack or captures. Outputs contain the name of the
// rules, so outputs from different rules can only be compared if all have this name.
func nameRules(ts *testscript.TestScript, _ bool, args []string) {
	path, link := ts.MkAbs(args[0]), ts.MkAbs("now.rbp")
	ts.Check(os.RemoveAll(link))
	if info, err := os.Stat(path); err == nil && !info.IsDir() && filepath.Ext(path) != ".rbp" {
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.Mkdir(link, 0o777))
		ts.Check(os.WriteFile(filepath.Join(link, filepath.Base(path)), text, 0o666))
		return
	}
	ts.Check(os.Symlink(path, link))
}

// exits CODE PROGRAM ARG...: runs a program, which must exit with that code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	checkExit(ts, args[0], err)
}

func checkExit(ts *testscript.TestScript, want string, err error) {
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// robobatch returns the command with the arguments. It runs in the working directory of the script.
func robobatch(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command("robobatch", args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stderr = ts.Stderr()
	return cmd
}

// closedpipe CODE ARG...: runs robobatch with a closed pipe as standard output, and expects the exit code.
func closedPipe(ts *testscript.TestScript, _ bool, args []string) {
	r, w, err := os.Pipe()
	ts.Check(err)
	ts.Check(r.Close())
	defer w.Close()
	cmd := robobatch(ts, args[1:])
	cmd.Stdout = w
	checkExit(ts, args[0], cmd.Run())
}

// interrupt CODE SIGNAL idle|busy ARG...: runs robobatch, writes URLs to its standard input, and sends it the signal
// INT, TERM or HUP once it has read so many that it must be evaluating them. After that, more URLs follow (busy), or
// none (idle). The temporary file must exist before the signal, and must not exist after it.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT}
	busy := args[2] == "busy"
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, signals[args[1]]) // a child process ignores the signals that this process ignores, for example under nohup
	defer signal.Stop(heeded)
	cmd := robobatch(ts, args[3:])
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	text := bytes.Repeat([]byte("https://example.com/private/x\nhttps://example.com/y\n"), 1<<12)
	for range 8 { // much more than a pipe holds
		_, err := stdin.Write(text)
		ts.Check(err)
	}
	if temps(ts) != 1 {
		ts.Fatalf("%d temporary files while running, want 1", temps(ts))
	}
	stopped := make(chan struct{})
	if busy {
		go func() {
			defer close(stopped)
			for err := error(nil); err == nil; { // until the pipe is closed
				_, err = stdin.Write(text)
			}
		}()
	} else {
		close(stopped)
	}
	ts.Check(cmd.Process.Signal(signals[args[1]]))
	err = cmd.Wait() // closes stdin
	<-stopped
	checkExit(ts, args[0], err)
	if temps(ts) != 0 {
		ts.Fatalf("%d temporary files left behind", temps(ts))
	}
}

// A firstWrite passes writes on, and closes the channel came at the first write.
type firstWrite struct {
	w    io.Writer
	once sync.Once
	came chan struct{}
}

// Write writes.
func (f *firstWrite) Write(p []byte) (int, error) {
	f.once.Do(func() { close(f.came) })
	return f.w.Write(p)
}

// interruptLoading CODE ARG...: runs robobatch, waits until it shows progress, and sends SIGINT. Afterwards the
// directory out must be empty.
func interruptLoading(ts *testscript.TestScript, _ bool, args []string) {
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, os.Interrupt)
	defer signal.Stop(heeded)
	cmd := robobatch(ts, args[1:])
	shown := &firstWrite{w: cmd.Stderr, came: make(chan struct{})}
	cmd.Stderr = shown
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-shown.came:
	case err := <-ended:
		ts.Fatalf("it ended before it showed progress: %v", err)
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	checkExit(ts, args[0], <-ended)
}

// blank FILE: writes 16 GiB of empty lines, compressed. They take long to read, but contain no row.
func writeBlank(ts *testscript.TestScript, _ bool, args []string) {
	enc, err := zstd.NewWriter(nil)
	ts.Check(err)
	frame := enc.EncodeAll(bytes.Repeat([]byte("\n"), 16<<20), nil)
	ts.Check(enc.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat(frame, 1<<10), 0o666))
}

// temps returns the number of temporary files below the script's directory.
func temps(ts *testscript.TestScript) int {
	names, err := filepath.Glob(ts.MkAbs(filepath.Join("out", ".*.tmp")))
	ts.Check(err)
	return len(names)
}

// urls N FILE: writes N URLs of https://example.com, every tenth below /private.
func urls(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		dir := "public"
		if i%10 == 0 {
			dir = "private"
		}
		fmt.Fprintf(&b, "https://example.com/%s/%x?n=%d\n", dir, uint32(i)*2654435761, i) // hardly packs
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

// origins N FILE: writes a URL of each of N origins.
func origins(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "https://www.one-of-many-sites-with-long-names-%d.example/\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

// bytes FILE TEXT: writes the text, in which \n, \xff and the like are escapes.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// pack zstd|gzip FROM TO: compresses a file. The zstd frame has a checksum.
func packFile(ts *testscript.TestScript, _ bool, args []string) {
	var (
		b   bytes.Buffer
		w   io.WriteCloser = gzip.NewWriter(&b)
		err error
	)
	if args[0] == "zstd" {
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		ts.Check(err)
	}
	_, err = io.WriteString(w, ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.Bytes(), 0o666))
}

// zip ARCHIVE FILE...: makes a zip archive of files. They are stored without compression if the name of the archive
// begins with "stored".
func zipFiles(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range args[1:] {
		method := zip.Deflate
		if strings.HasPrefix(args[0], "stored") {
			method = zip.Store
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		ts.Check(err)
		_, err = io.WriteString(f, ts.ReadFile(name))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// cut FILE PERCENT: keeps only the first part of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	percent, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)*percent/100]), 0o666))
}

// damage FILE PERCENT: overwrites 64 bytes of a file, at that percentage of its size.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	percent, err := strconv.Atoi(args[1])
	ts.Check(err)
	at := len(text) * percent / 100
	copy(text[at:], strings.Repeat("\xff", 64))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o666))
}
