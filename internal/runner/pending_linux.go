package runner

import "os"

// A pending is what has come before the command runs.
type pending struct {
	signals  []os.Signal // for the command, once it runs
	stops    []*StopError
	unwanted error      // why the command is not to be started any more; the first reason counts
	stop     *StopError // the same, if it is no signal
}

// take keeps a signal for the command, which may run already without this process having
// noticed. One that would have ended a command ends this run if there will be none.
func (p *pending) take(sig os.Signal) {
	m := meaningOf(sig)
	if m.to != toNobody {
		p.signals = append(p.signals, sig)
	}
	if m.alone == ends {
		p.end(Interrupted(sig), nil)
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
