package page

import (
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// late returns for how long a job has been overdue; ok is false if it is not.
func late(j lock.Job) (d time.Duration, ok bool) {
	due, _ := j.Due()
	return j.Now.Sub(due), j.Overdue()
}

// overdue lists the jobs that should have succeeded and have not, the one first that is overdue for longest.
func (h *document) overdue() {
	var rows []int
	for i := range h.rows {
		if _, is := late(h.rows[i].job); is {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		one, _ := late(h.rows[a].job)
		other, _ := late(h.rows[b].job)
		return int(other.Milliseconds() - one.Milliseconds())
	})
	h.Open("section", "aria-labelledby", "overdue")
	h.Element("h2", "What should have run", "id", "overdue")
	h.heads("late", "Job", "State", "Since", "Limit", "Last success")
	for _, i := range rows {
		h.overdueRow(i)
	}
	h.Close()
	h.Close()
	h.Close()
	h.Line()
}

func (h *document) overdueRow(i int) {
	j := h.rows[i].job
	h.Open("tr")
	h.Open("th", "scope", "row")
	h.link(i)
	h.Close()
	d, _ := late(j)
	h.Element("td", "overdue by "+report.Elapsed(d), "class", "bad")
	due, _ := j.Due()
	h.Open("td")
	h.time(due, h.stamp(due))
	h.Close()
	h.Element("td", report.Took(j.MaxAge))
	h.Open("td")
	h.ago(j.Success().Ended, j.Now)
	h.Close()
	h.Close()
	h.Line()
}
