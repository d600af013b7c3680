// Package capture keeps what a program writes, for a test to read.
package capture

import (
	"strings"
	"sync"
)

// An Output is a stderr to which several goroutines may write.
type Output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Add adds a line, as package console writes it.
func (o *Output) Add(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(line)
}

// Take returns what was written since the last Take.
func (o *Output) Take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	return o.text.String()
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
