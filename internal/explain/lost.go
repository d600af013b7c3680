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
		return fmt.Sprintf("another run took lock %q (%s)", c.Config.Key, c.Where())
	case errors.Is(e, lock.ErrLost):
		return fmt.Sprintf("lock %q is gone (%s)", c.Config.Key, c.Where())
	}
	return fmt.Sprintf("lock %q could not be renewed in time: %v (%s)", c.Config.Key, cause, c.Where())
}

func LostHint(e *watchdog.LostError, c About) string {
	switch {
	case c.Config.Address.Local:
		return "the lock file was removed or replaced"
	case errors.Is(e, lock.ErrTaken) && c.Config.OnLost == config.PauseCommand:
		return "the key had expired and another run took it, or it was deleted or overwritten"
	case errors.Is(e, lock.ErrTaken):
		return "the key was deleted or overwritten, or it expired while this host was suspended"
	case errors.Is(e, lock.ErrLost):
		return "a key vanishes when Redis evicts it (maxmemory-policy), is flushed, or restarts without its data"
	}
	if hint := refusalHint(e); hint != "" {
		return hint
	}
	return "a longer --ttl survives longer outages"
}
