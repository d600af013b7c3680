package lock

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// An Output is the end of what the command of a run printed. Only a run that did not end well has one, if it was
// told to keep it. What is unknown is zero, except Status. Any client of the server may have written any part of it.
type Output struct {
	Run     string
	Host    string
	Ended   time.Time // by the store's clock
	End     EndKind
	Status  int    // as of an [Entry]; < 0: unknown
	Attempt int    // which start of the command printed it, from 1
	Total   int64  // how many bytes that start printed
	Tail    []byte // the last of them, of any bytes
}

// MaxOutput bounds what is kept of one run, and MinOutput is the least that can be asked for.
const (
	MinOutput = 1 << 10
	MaxOutput = 64 << 10
)

// An OutputKeeper is a Lease of a store that keeps what commands print.
type OutputKeeper interface {
	// KeepOutput keeps o after Release, which was told that it follows. It makes one try within ctx. Run, Host and
	// Ended
	// of o are ignored: it is this run's, and ends now. An output of this run that is kept already stays.
	KeepOutput(ctx context.Context, o Output) error
}

// A Tail is the last lines of the Output of one run, as text.
type Tail struct {
	Run  string
	Text string
}

// MaxTail is the most bytes that a Tail's text has, and tailLines the most lines.
const (
	MaxTail   = 240
	tailLines = 3
)

// TailOf is the last lines of an output, as text that is valid. Empty lines at the end do not count.
func TailOf(output []byte) string {
	output = bytes.TrimRight(output, "\r\n")
	start := len(output)
	for range tailLines {
		if start = bytes.LastIndexByte(output[:start], '\n'); start < 0 {
			break
		}
	}
	text := strings.ToValidUTF8(string(output[start+1:]), string(utf8.RuneError))
	if cut := len(text) - MaxTail; cut > 0 {
		for !utf8.RuneStart(text[cut]) {
			cut++
		}
		text = text[cut:]
	}
	return text
}
