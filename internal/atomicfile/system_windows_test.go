package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRenameOpen replaces a file that a program has open, which Windows does not do until it is closed.
func TestRenameOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		open time.Duration
		want string
	}{{renameWait / 4, "new"}, {2 * renameWait, "old"}} {
		if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		reader, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error)
		go func() {
			time.Sleep(test.open)
			closed <- reader.Close()
		}()
		f, err := Create(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		err = f.Commit()
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(name); string(text) != test.want || (err == nil) != (test.want == "new") {
			t.Errorf("open for %v: %q, %v; want %q", test.open, text, err, test.want)
		}
		if err != nil && !strings.Contains(err.Error(), "close it there") {
			t.Errorf("no remedy in %v", err)
		}
	}
}

// TestLockDirRename renames a directory that is locked, and locks it twice.
func TestLockDirRename(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Out")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	lock, err := LockDir(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := tryLock(strings.ToUpper(dir) + `\`); held != nil || err != nil {
		t.Errorf("locked twice: %v, %v", held, err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Error(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	lock, err = LockDir(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestIsRunning(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if pid := cmd.ProcessState.Pid(); isRunning(pid) {
		t.Errorf("process %d has ended", pid)
	}
	if !isRunning(os.Getpid()) {
		t.Error("this process does not run")
	}
}
