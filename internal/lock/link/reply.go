package link

import (
	"fmt"
	"math"
	"time"
)

// MostExact is the largest whole number that Lua tells from its neighbours.
const MostExact = 1<<53 - 1

// Digit is yes or no as a script takes it.
func Digit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// A Reply is a script's answer, which a reader takes part by part. A part with an unexpected type
// makes the whole reply strange, and so does one that is not taken. The reader then goes on with zero
// values, which are thrown away.
type Reply struct {
	parts   []any // that have not been taken
	strange bool
}

// Code takes the next part, a number that says what the reply is.
func (r *Reply) Code() int64 { return r.Number(math.MinInt64, math.MaxInt64) }

// Number takes the next part, a number from least to most.
func (r *Reply) Number(least, most int64) int64 {
	n, ok := r.part().(int64)
	if !ok || n < least || n > most {
		r.Strange()
		return 0
	}
	return n
}

// Whole takes the next part, a number from least to MostExact.
func (r *Reply) Whole(least int64) int64 { return r.Number(least, MostExact) }

// Text takes the next part, a text of any bytes.
func (r *Reply) Text() string {
	s, ok := r.part().(string)
	if !ok {
		r.Strange()
	}
	return s
}

// List takes the next part, a list, which read takes apart.
func (r *Reply) List(read func(*Reply)) {
	parts, ok := r.part().([]any)
	inner := &Reply{parts: parts}
	read(inner)
	if !ok || inner.strange || len(inner.parts) > 0 {
		r.Strange()
	}
}

// Texts takes all that has not been taken, texts of any bytes.
func (r *Reply) Texts() (texts []string) {
	for r.Len() > 0 && !r.strange {
		texts = append(texts, r.Text())
	}
	return texts
}

// Left takes the next part, an answer to PTTL: how long a key lives. A negative duration has no end,
// and 0 is unknown: the key has just expired.
func (r *Reply) Left() time.Duration {
	switch ms := r.Number(-2, math.MaxInt64); ms {
	case -2:
		return 0
	case -1:
		return -1
	default:
		return time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	}
}

// Len is how many parts have not been taken.
func (r *Reply) Len() int { return len(r.parts) }

// Strange says that the reply is none of the script's.
func (r *Reply) Strange() { r.strange = true }

func (r *Reply) part() any {
	if len(r.parts) == 0 {
		r.Strange()
		return nil
	}
	next := r.parts[0]
	r.parts = r.parts[1:]
	return next
}

// read reads the parts. After its error it is unknown what the script has done.
func read[R any](parts []any, as func(*Reply) R) (R, error) {
	r := &Reply{parts: parts}
	said := as(r)
	if r.strange || len(r.parts) > 0 {
		var none R
		text := fmt.Sprint(parts)
		return none, fmt.Errorf("read reply: %s is not one of ours", text[:min(len(text), mostShown)])
	}
	return said, nil
}

// mostShown bounds what is shown of a reply, in bytes.
const mostShown = 200
