package runner

import (
	"os"
	"time"

	"redlockrun/internal/boottime"
)

// A pending holds the signals and stops that arrived before the command runs.
type pending struct {
	signals  []os.Signal // for the command, once it runs
	stops    []*StopError
	stands   []standOrder
	unwanted error      // why the command must not be started any more; the first reason counts
	stop     *StopError // the same reason, if it is not a signal
}

// take keeps a signal for the command, which may already run before this process notices. A signal
// that would have ended the command ends this run if there is no command.
func (p *pending) take(sig os.Signal) {
	m := meaningOf(sig)
	if m.to != toNobody {
		p.signals = append(p.signals, sig)
	}
	if m.alone == ends {
		p.end(Interrupted(sig), nil)
	}
}

// takeAll takes the signals that have arrived.
func (p *pending) takeAll(signals <-chan os.Signal) {
	for {
		select {
		case sig := <-signals:
			p.take(sig)
		default:
			return
		}
	}
}

func (p *pending) takeStops(stops []*StopError) {
	for _, s := range stops {
		p.stops = append(p.stops, s)
		p.end(&NotStartedError{s.Reason}, s)
	}
}

// doubtful returns when the lease ends that is in doubt; nil if none is.
func (p *pending) doubtful() <-chan time.Time {
	last := p.stands[len(p.stands)-1]
	if last.reason == nil {
		return nil
	}
	return time.After(boottime.Until(last.by))
}

func (p *pending) end(reason error, stop *StopError) {
	if p.unwanted == nil {
		p.unwanted, p.stop = reason, stop
	}
}
