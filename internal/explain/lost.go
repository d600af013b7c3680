package explain

import (
	"cmp"
	"errors"
	"fmt"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

func explainLoss(err error, c About) (o Explanation, ok bool) {
	lost, ok := errors.AsType[*watchdog.LostError](err)
	if !ok {
		return o, false
	}
	return Failure(StatusLost, LostMessage(lost, c)+cmp.Or(nothingRun(err), "; the command was stopped"),
		LostHint(lost, c)), true
}

func LostMessage(e *watchdog.LostError, c About) string {
	var unavailable *lock.UnavailableError
	cause := e.Err
	if errors.As(cause, &unavailable) {
		cause = unavailable.Err // the address is named anyway
	}
	switch {
	case errors.Is(e, lock.ErrTaken):
		return fmt.Sprintf("lock %q was taken by another (%s)", c.Config.Key, c.Where())
	case errors.Is(e, lock.ErrLost):
		return fmt.Sprintf("lock %q is gone (%s)", c.Config.Key, c.Where())
	}
	return fmt.Sprintf("lock %q could not be renewed in time: %v (%s)", c.Config.Key, cause, c.Where())
}

func LostHint(e *watchdog.LostError, c About) string {
	switch {
	case c.Config.Address.Local:
		return "somebody removed or replaced the file"
	case errors.Is(e, lock.ErrTaken) && c.Config.OnLost == config.PauseCommand:
		return "another run took it when it had expired, or somebody deleted or overwrote the key"
	case errors.Is(e, lock.ErrTaken):
		return "somebody deleted or overwrote the key, or it lapsed while this host stood still"
	case errors.Is(e, lock.ErrLost):
		return "a key vanishes when Redis evicts it (maxmemory-policy), is flushed, or restarts without its data"
	}
	if hint := refusalHint(e); hint != "" {
		return hint
	}
	return "a longer --ttl survives longer outages"
}
