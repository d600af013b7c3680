package lock

import (
	"fmt"
	"time"
)

// defaultTimeout bounds how long the client asks a store if the request sets no limit.
const defaultTimeout = 5 * time.Second

// Complete checks what every store relies on, and fills in the defaults.
func (r *Request) Complete() error {
	if len(r.Holder.Run) != RunIDLen {
		return fmt.Errorf("acquire lock: run id %q is no ULID", r.Holder.Run)
	}
	if r.Timeout <= 0 {
		r.Timeout = defaultTimeout
	}
	return nil
}
