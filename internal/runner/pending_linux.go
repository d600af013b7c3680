package runner

import "os"

// A pending is what has come before the command runs.
type pending struct {
	signals  []os.Signal // for the command, once it runs
	stops    []*StopError
	unwanted error      // why the command is not to be started any more; the first reason counts
	stop     *StopError // the same, if it is no signal
}

// take keeps a signal that has a meaning for the command. One that would have ended a
// command ends this run if there will be none.
func (p *pending) take(sig os.Signal) {
	switch meaningOf(sig).alone {
	case ends:
		p.signals = append(p.signals, sig)
		p.end(Interrupted(sig), nil)
	case suspends:
		p.signals = append(p.signals, sig)
	}
}

// takeAll takes the signals that are there.
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

func (p *pending) end(reason error, stop *StopError) {
	if p.unwanted == nil {
		p.unwanted, p.stop = reason, stop
	}
}
