package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"redlockrun/internal/config"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/outfile"

	"github.com/spf13/cobra"
)

var copySelfTexts = Texts{
	Does: "copies this program into a directory, for images without cp",
	More: `. The copy is
DIR/redlockrun with mode 0755. An init container can use it to share redlockrun through a volume.`,
	Calls: "  redlockrun copy-self DIR",
	Notes: `It needs no Redis and reads no configuration. An existing copy is replaced at once, even while it
runs.`,
	Status: "0 done, 64 usage, or there is no such directory, 71 the copy cannot be written.",
	Examples: `  redlockrun copy-self /shared
  redlockrun copy-self "$HOME/bin" && ~/bin/redlockrun --version`,
}

func defineCopySelf(c *Command, o *Operation) {
	c.Texts = copySelfTexts
	c.Operands, c.Single, c.Bare = config.KindDirectory, true, true
	c.RunE = func(_ *cobra.Command, words []string) error {
		dir, err := onlyDirectory(words)
		if err != nil {
			return err
		}
		_, err = interrupt.Run(o.Signals, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, copyInto(ctx, dir)
		})
		return err
	}
}

// onlyDirectory returns the one directory that the words name. Any other number of words is a
// usage error.
func onlyDirectory(words []string) (dir string, err error) {
	switch {
	case len(words) == 0:
		err = config.Usagef("copy-self needs a target directory").
			Hint("redlockrun copy-self DIR; the copy is DIR/redlockrun")
	case len(words) > 1:
		err = config.Usagef("copy-self takes one directory, not %d", len(words)).
			Hint("run it once for each of them")
	case words[0] == "":
		err = config.Usagef("the name of the directory is empty").
			Hint("a shell variable may be empty; . is the working directory")
	}
	if err != nil {
		return "", err
	}
	there, err := os.Stat(words[0])
	if err == nil && !there.IsDir() {
		err = syscall.ENOTDIR
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return "", config.Usagef("cannot copy into %s: %v", words[0], outfile.Bare(err)).
			Hint("create the directory first, or mount a volume there")
	}
	return words[0], nil // its use shows all other errors
}

// copyInto puts the program into a directory, and makes sure that it is on the disk. The end of
// ctx stops it, and leaves an earlier copy in place.
func copyInto(ctx context.Context, dir string) error {
	self, err := openSelf()
	if err != nil {
		return fmt.Errorf("read the program that runs: %w", err)
	}
	defer self.Close()
	err = outfile.ReplaceBy(filepath.Join(dir, "redlockrun"), 0o755, func(f *os.File) error {
		if err := copyPieces(ctx, f, self); err != nil {
			return err
		}
		return f.Sync()
	})
	if err != nil {
		return copyError{err}
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // some file systems cannot
		d.Close()
	}
	return nil
}

// openSelf opens the file of this program, even if it was replaced or removed.
func openSelf() (*os.File, error) {
	if runtime.GOOS == "linux" {
		return os.Open("/proc/self/exe")
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// copyPieces copies in writes of 64 KiB. scripts/place.sh has the reason: the copy starts faster.
func copyPieces(ctx context.Context, to io.Writer, from io.Reader) error {
	piece := make([]byte, 64<<10)
	for ctx.Err() == nil {
		n, err := io.ReadFull(from, piece)
		if _, err := to.Write(piece[:n]); err != nil {
			return err
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// A copyError says that the copy could not be written. It wraps the reason.
type copyError struct{ error }

var _ explain.SelfExplained = copyError{}

func (e copyError) Unwrap() error { return e.error }

func (e copyError) Explain(explain.About) explain.Explanation {
	return explain.Failure(explain.StatusFailed, e.Error(), explain.HintList(e.hint())...)
}

// hint says what to do about it; "" if that is unknown.
func (e copyError) hint() string {
	switch {
	case errors.Is(e, syscall.EACCES), errors.Is(e, syscall.EPERM):
		return "user " + strconv.Itoa(os.Getuid()) + " needs write permission there"
	case errors.Is(e, syscall.EROFS):
		return "mount a writable volume there"
	case errors.Is(e, syscall.ENOSPC), errors.Is(e, syscall.EDQUOT):
		return "the copy needs about 12 MB, and twice that while it replaces another"
	}
	return ""
}
