package simulation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/permits"
)

// A plan is what a seed says of a world before it begins. What it leaves out when it is shrunk
// changes nothing of the rest.
type plan struct {
	seed     uint64
	machines int // one, or the masters of a quorum
	rates    []float64
	durable  bool // of a quorum: --durable is said
	outside  bool // what happens is more than the contract allows for: two may run at a time
	times    lock.Times
	timeout  time.Duration
	hosts    []*clientPlan
	faults   []fault
	permits  int // how many the job has; 0: it is a lock
	desk
}

// A clientPlan is the crontab of a host, and the profile of its network.
type clientPlan struct {
	ticks   []tick
	network networkProfile
	plain   bool // it has no wishes
}

// A tick is one start of redlockrun.
type tick struct {
	at       time.Duration // since the world began
	wait     time.Duration // --wait
	giveUp   time.Duration // a signal comes after so long, if it has no lock then; 0: none
	runs     time.Duration // how long the command takes
	how      lock.EndKind  // and ends
	slot     string        // --once
	ignores  bool          // --ignore-pause
	minHold  time.Duration // --min-hold
	outlives time.Duration // how long the command lives on if redlockrun dies
	wish
	claim permits.Claim
}

// A fault is one thing that goes wrong, at one instant.
type fault struct {
	kind   string
	at     time.Duration
	length time.Duration
	on     int // the client, or the machine
	of     int // the machine that a client is parted from
}

func (f fault) String() string {
	if f.kind == "part" {
		return fmt.Sprintf("part %d from %d at %v for %v", f.on, f.of, f.at, f.length)
	}
	return fmt.Sprintf("%s %d at %v for %v", f.kind, f.on, f.at, f.length)
}

// warm is how long servers have been up when the first client comes: those of a quorum vote.
const warm = 3 * time.Minute

// planOf draws a plan.
func planOf(seed uint64) *plan {
	s := streamOf(seed, "plan")
	p := &plan{seed: seed, machines: pick(s, 1, 1, 1, 1, 3, 3, 5),
		timeout: pick(s, 5*time.Second, 5*time.Second, time.Second, 20*time.Second)}
	p.times = timesFor(s)
	for range p.machines {
		p.rates = append(p.rates, 1+pick(s, -0.01, 0, 0.01, 0.02*s.Float64()-0.01))
	}
	p.durable = s.chance(0.3)
	p.outside = s.chance(0.1)
	span := s.spread(5*time.Second, 2*time.Minute)
	calm := s.chance(0.25)
	period := s.spread(time.Second, span)
	for n := range 2 + s.IntN(6) {
		p.hosts = append(p.hosts, p.host(streamOf(seed, "host %d", n), span, period, calm))
	}
	if !calm {
		p.faults = p.draws(s, span)
		p.troubles(span)
		p.addScenarios(span)
	}
	p.wishes()
	p.staff()
	return p
}

// timesFor are the times of a lease, of a ttl as short as may be or as long as most are.
func timesFor(s stream) lock.Times {
	t := lock.TimesOf(pick(s, 500*time.Millisecond, time.Second, 2*time.Second, 5*time.Second, 15*time.Second,
		time.Minute))
	if s.chance(0.3) {
		longer := t
		longer.Grace = s.between(0, t.TTL/4)
		longer.Renew = s.between(t.TTL/10, t.TTL/2)
		if longer.Fit() {
			return longer
		}
	}
	return t
}

// host draws one crontab.
func (p *plan) host(s stream, span, period time.Duration, calm bool) *clientPlan {
	c := &clientPlan{network: networkProfile{way: s.spread(50*time.Microsecond, 3*time.Millisecond)}}
	if !calm && s.chance(0.7) {
		c.network.slow = pick(s, 0, 0.01, 0.1)
		c.network.cut, c.network.lose = pick(s, 0, 0.005, 0.05), pick(s, 0, 0.005, 0.05)
		c.network.stall = pick(s, 0, 0.003, 0.02)
	}
	sloppy, slotted := s.chance(0.3), s.chance(0.4)
	for at := time.Duration(0); at < span && len(c.ticks) < 6; at += period {
		t := tick{
			at:   warm + at + s.between(0, 50*time.Millisecond),
			wait: pick(s, 0, s.spread(100*time.Millisecond, 20*time.Second), 10*time.Minute),
			runs: s.spread(time.Millisecond, 3*p.times.TTL), how: pick(s, lock.EndOk, lock.EndOk, lock.EndFailed),
			outlives: s.between(0, 100*time.Millisecond),
		}
		if sloppy {
			t.at = warm + s.between(at, at+period)
		}
		if slotted {
			t.slot = fmt.Sprint("tick ", int(at/period))
		}
		if s.chance(0.1) {
			t.giveUp = s.spread(time.Millisecond, 10*time.Second)
		}
		if s.chance(0.1) {
			t.minHold = s.spread(10*time.Millisecond, 2*p.times.TTL)
		}
		c.ticks = append(c.ticks, t)
	}
	slices.SortFunc(c.ticks, func(a, b tick) int { return int(a.at - b.at) })
	return c
}

// draws are the faults of a plan.
func (p *plan) draws(s stream, span time.Duration) (faults []fault) {
	forgotten := 0
	for range s.IntN(8) {
		f := fault{at: warm + s.between(0, span+span/4), length: s.spread(5*time.Millisecond, 20*time.Second)}
		f.kind = pick(s, "freeze server", "restart", "cut all", "freeze client", "crash", "crash", "host dies",
			"cut client", "forget")
		switch f.kind {
		case "freeze client", "crash", "host dies", "cut client":
			f.on = s.IntN(len(p.hosts))
		default:
			f.on = s.IntN(p.machines)
		}
		if f.kind == "forget" {
			// A minority that forgets is what a quorum is for, unless it is said to remember.
			if forgotten++; !p.outside && (p.durable || forgotten > (p.machines-1)/2) {
				f.kind = "restart"
			}
		}
		faults = append(faults, f)
	}
	return faults
}

// A choice is what is left of a plan when it is shrunk; the zero value is all of it.
type choice struct {
	hosts, faults []int // those that are left out
	calm          []int // hosts whose network is good
	short         []int // hosts that come once
	plain         []int // hosts that ask for nothing unusual
	acts          []int // what nobody does at the desk
}

func (c choice) String() string {
	var words []string
	for _, part := range []struct {
		name string
		of   []int
	}{{"hosts", c.hosts}, {"faults", c.faults}, {"calm", c.calm}, {"short", c.short}, {"plain", c.plain},
		{"acts", c.acts}} {
		if len(part.of) > 0 {
			words = append(words, part.name+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(part.of), " ", ","), "[]"))
		}
	}
	return strings.Join(words, " ")
}

// choiceOf reads what String has written.
func choiceOf(text string) (c choice) {
	for _, word := range strings.Fields(text) {
		name, list, _ := strings.Cut(word, "=")
		part := map[string]*[]int{
			"hosts": &c.hosts, "faults": &c.faults, "calm": &c.calm, "short": &c.short, "plain": &c.plain,
			"acts": &c.acts,
		}[name]
		for _, number := range strings.Split(list, ",") {
			var n int
			fmt.Sscan(number, &n)
			*part = append(*part, n)
		}
	}
	return c
}

// apply leaves out of a plan what c does.
func (c choice) apply(p *plan) *plan {
	for _, n := range c.hosts {
		p.hosts[n].ticks = nil
	}
	for _, n := range c.calm {
		p.hosts[n].network = networkProfile{way: p.hosts[n].network.way}
	}
	for _, n := range c.short {
		p.hosts[n].ticks = p.hosts[n].ticks[:min(1, len(p.hosts[n].ticks))]
	}
	for _, n := range c.plain {
		for i := range p.hosts[n].ticks {
			p.hosts[n].ticks[i].wish = wish{}
		}
	}
	for _, n := range c.acts {
		p.leave(n)
	}
	for _, n := range c.faults {
		p.faults[n].kind = ""
	}
	return p
}

// end is when all is long over.
func (p *plan) end() time.Duration {
	end := time.Duration(0)
	for _, h := range p.hosts {
		for _, t := range h.ticks {
			end = max(end, t.at) + t.wait + t.runs + t.again() + 4*p.timeout + 2*p.times.TTL
		}
	}
	end = max(end, p.attends()) + p.attends()
	return min(end+time.Hour, math.MaxInt64)
}

func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d servers, rates %.4f, durable: %v, beyond the contract: %v\ntimes %+v, timeout %v\n",
		p.machines, p.rates, p.durable, p.outside, p.times, p.timeout)
	for n, h := range p.hosts {
		fmt.Fprintf(&b, "c%d: network %+v\n", n, h.network)
		for _, t := range h.ticks {
			fmt.Fprintf(&b, "    %+v\n", t)
		}
	}
	for n, f := range p.faults {
		if f.kind != "" {
			fmt.Fprintf(&b, "fault %d: %v\n", n, f)
		}
	}
	b.WriteString(p.desk.String())
	return b.String()
}
