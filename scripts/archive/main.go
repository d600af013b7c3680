// Command archive packs files so that the same files make the same bytes:
//
//	archive gz FILE TO
//	archive tar TO.tar.gz PREFIX <NAMES
//
// The names are paths below the current directory, one a line; in the archive they stand in the
// order of their bytes below PREFIX, belong to root, are of mode 0755 or 0644, and are as old as
// SOURCE_DATE_EPOCH says. There are no directories in it: those that are there already keep
// their modes when it is unpacked.
package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "archive: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, names io.Reader) error {
	switch {
	case len(args) == 3 && args[0] == "gz":
		text, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		return zipped(args[2], func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	case len(args) == 3 && args[0] == "tar":
		seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
		if err != nil {
			return fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
		}
		return zipped(args[1], func(w io.Writer) error {
			return pack(w, lines(names), args[2],
				time.Unix(seconds, 0).UTC())
		})
	}
	return errors.New("usage: archive gz FILE TO | archive tar TO.tar.gz PREFIX <NAMES")
}

// zipped writes a file of gzip that names neither another file nor a time.
func zipped(to string, write func(io.Writer) error) error {
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err == nil {
		err = errors.Join(write(zip), zip.Close())
	}
	return errors.Join(err, file.Close())
}

// lines are the names in the order of the archive.
func lines(from io.Reader) (names []string) {
	for scanner := bufio.NewScanner(from); scanner.Scan(); {
		names = append(names, path.Clean(scanner.Text()))
	}
	slices.Sort(names)
	return names
}

func pack(to io.Writer, names []string, prefix string, when time.Time) error {
	w := tar.NewWriter(to)
	for _, name := range names {
		if err := add(w, name, path.Join(prefix, name), when); err != nil {
			return err
		}
	}
	return w.Close()
}

func add(w *tar.Writer, name, as string, when time.Time) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("pack %s: it is no regular file", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	mode := int64(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if err := w.WriteHeader(&tar.Header{Name: as, Mode: mode, Size: int64(len(text)), ModTime: when,
		Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
