package output

import "sync"

// A ring holds the last bytes that were added.
type ring struct {
	mu    sync.Mutex
	size  int
	bytes []byte // grows to size, then the oldest are replaced
	next  int    // where the next byte goes, once all of size is used
	total int64
}

func newRing(size int) *ring { return &ring{size: size, bytes: make([]byte, 0, size)} }

func (r *ring) add(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += int64(len(data))
	data = data[max(0, len(data)-r.size):]
	free := min(len(data), r.size-len(r.bytes))
	r.bytes = append(r.bytes, data[:free]...)
	for data = data[free:]; len(data) > 0; {
		n := copy(r.bytes[r.next:], data)
		data = data[n:]
		r.next = (r.next + n) % r.size
	}
}

func (r *ring) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes, r.next, r.total = r.bytes[:0], 0, 0
}

func (r *ring) tail() Tail {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := make([]byte, 0, len(r.bytes))
	text = append(append(text, r.bytes[r.next:]...), r.bytes[:r.next]...)
	return Tail{Text: text, Total: r.total}
}
