package lock

import (
	"fmt"
	"time"
)

// defaultTimeout is how long a store is asked when the request does not say.
const defaultTimeout = 5 * time.Second

// Complete checks what every store relies on, and fills in what was left out.
func (r *Request) Complete() error {
	if len(r.Holder.Run) != RunIDLen {
		return fmt.Errorf("acquire lock: run id %q is no ULID", r.Holder.Run)
	}
	if r.Timeout <= 0 {
		r.Timeout = defaultTimeout
	}
	return nil
}
