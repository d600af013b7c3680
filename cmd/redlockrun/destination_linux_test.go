package main

import (
	"testing"
)

// Root could replace /dev/stdout itself, for all programs. So it has a /dev of its own here.
func TestRootDoesNotReplaceStdout(t *testing.T) {
	status, out, said := mounted(t, `
		mount -t tmpfs none "$2"
		touch "$2/null"; mount --bind /dev/null "$2/null"
		ln -s /proc/self/fd "$2/fd"; ln -s /proc/self/fd/1 "$2/stdout"; ln -s fd/2 "$2/stderr"
		mkdir -m 700 "$2/locks"
		mount --rbind "$2" /dev
		{ echo begin
		"$1" --local=/dev/locks -k job --report-file /dev/stdout echo runs
		"$1" --local=/dev/locks -k job --report-file /dev/stderr echo runs 2>&1
		echo end; } >"$2/out"
		readlink /dev/stdout /dev/stderr
		sed 's/^{"key".*"status":0.*/REPORT/' "$2/out"
		umount -R /dev; umount -R "$2"`)
	want := "/proc/self/fd/1\nfd/2\nbegin\nruns\nREPORT\nruns\nREPORT\nend\n"
	if status != 0 || out != want || said != "" {
		t.Errorf("status %d\n%s, want\n%s, said %s", status, out, want, said)
	}
}

// A file in /dev/shm is a file like any other.
func TestAFileInSharedMemoryIsReplaced(t *testing.T) {
	status, out, said := mounted(t, `
		mount -t tmpfs none /dev/shm
		echo before >/dev/shm/report; ln /dev/shm/report /dev/shm/before; mkdir -m 700 /dev/shm/locks
		"$1" --local=/dev/shm/locks -k job --report-file /dev/shm/report true
		cat /dev/shm/before; grep -c '"status":0' /dev/shm/report
		umount /dev/shm`)
	if status != 0 || out != "before\n1\n" || said != "" {
		t.Errorf("status %d\n%s, said %s", status, out, said)
	}
}
