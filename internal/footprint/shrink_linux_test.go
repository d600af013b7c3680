package footprint

import (
	"os"
	"strings"
	"testing"
)

// A process that has let go of its pages runs on, and has fewer.
func TestShrinkLetsGoOfTheProgram(t *testing.T) {
	before := residentOfProgram(t)
	if err := Shrink(); err != nil {
		t.Fatal(err)
	}
	if after := residentOfProgram(t); after > before*3/4 {
		t.Errorf("%d KiB of the program were in memory, and %d KiB after it was let go of", before, after)
	}
}

func residentOfProgram(t *testing.T) (kib int) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mappings(string(text)) {
		if m.file == program && !m.writable && !m.written {
			kib += m.resident
		}
	}
	if kib == 0 {
		t.Fatal("no mapping of the program was found")
	}
	return kib
}

func TestWhichMappingsAreEqualToTheFile(t *testing.T) {
	const sizes = "Size: 8 kB\nRss: 8 kB\nAnonymous: %A kB\nSwap: %S kB\nVmFlags: rd mr mw me\n"
	of := func(head, anonymous, swap string) string {
		return head + "\n" + strings.NewReplacer("%A", anonymous, "%S", swap).Replace(sizes)
	}
	smaps := of("00400000-00402000 r-xp 00000000 fe:00 77 /opt/a b", "0", "0") +
		of("00402000-00404000 r--p 00002000 fe:00 77 /opt/a b", "4", "0") + // written by the loader, then protected
		of("00404000-00406000 r--p 00002000 fe:00 77 /opt/a b", "0", "4") + // likewise, and swapped out since
		of("00406000-00408000 rw-p 00004000 fe:00 77 /opt/a b (deleted)", "0", "0") +
		of("7ff00000-7ff02000 rw-p 00000000 00:00 0", "0", "0") +
		"00408000-0040a000 r--p 00002000 fe:00 77 /opt/a b\nRss: 8 kB\n" // a kernel that does not tell
	want := []mapping{
		{start: 0x400000, end: 0x402000, file: "/opt/a b", resident: 8},
		{start: 0x402000, end: 0x404000, file: "/opt/a b", written: true, resident: 8},
		{start: 0x404000, end: 0x406000, file: "/opt/a b", written: true, resident: 8},
		{start: 0x406000, end: 0x408000, file: "/opt/a b (deleted)", writable: true, resident: 8},
		{start: 0x7ff00000, end: 0x7ff02000, writable: true, resident: 8},
		{start: 0x408000, end: 0x40a000, file: "/opt/a b", written: true, resident: 8},
	}
	got := mappings(smaps)
	if len(got) != len(want) {
		t.Fatalf("%d mappings, want %d: %+v", len(got), len(want), got)
	}
	for i, m := range got {
		if m != want[i] {
			t.Errorf("mapping %d is %+v, want %+v", i, m, want[i])
		}
	}
}
