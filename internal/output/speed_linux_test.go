package output_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// What a gigabyte of each costs, copied and by `| cat`:
//
//	go test ./internal/output -run '^$' -bench . -benchtime 3x
func BenchmarkGigabyte(b *testing.B) {
	const bytes = "1000000000"
	for what, text := range map[string]string{
		"zeros": "head -c " + bytes + " /dev/zero",
		"lines": "yes 'a line of the usual length, as logs have it, which goes on for a while' | head -c " + bytes,
	} {
		b.Run(what+" copied", func(b *testing.B) {
			for b.Loop() {
				read, write := originalPipe(b)
				tap := tapped(b, write, null(b), 64<<10)
				all := consumed(read)
				run(b, shell(tap, text))
				finish(b, tap)
				tap.Close()
				write.Close()
				<-all
			}
		})
		b.Run(what+" by cat", func(b *testing.B) {
			for b.Loop() {
				read, write := originalPipe(b)
				all := consumed(read)
				cmd := exec.Command("/bin/sh", "-c", text+" | cat")
				cmd.Stdout = write
				run(b, cmd)
				write.Close()
				<-all
			}
		})
	}
}

// consumed reads to the end in the background.
func consumed(read *os.File) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = readFast(io.Discard, read)
	}()
	return done
}
