package page

import (
	"time"

	"redlockrun/internal/lock"
)

// late returns for how long a job has been overdue; ok is false if it is not.
func late(j lock.Job) (d time.Duration, ok bool) {
	due, _ := j.Due()
	return j.Now.Sub(due), j.Overdue()
}
