//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// A place is where jobs run and their locks lie: a host that has the store, and one on the
// other end of a cable. Where no network namespace can be made both are this machine, and what
// the second sends to the store goes through a relay.
type place struct {
	dir   string
	cable *redistest.Network // nil: none
	relay *relay             // nil: a cable, or nothing to cut
	clock *redistest.Clock   // of Redis; nil: this machine's
	redis *redistest.Server  // nil: there is none, or sentinels have it
	etcd  *etcd
	watch *redistest.Sentinel
	ahead time.Duration // of the clock
}

// A side is the host of a job.
type side int

const (
	near side = iota // where the store is
	far
)

func (s side) of(cable *redistest.Network) *redistest.Host {
	switch {
	case cable == nil:
		return nil
	case s == near:
		return cable.Left
	}
	return cable.Right
}

// open makes a place. Close ends it, also if it was made in part.
func open(ctx context.Context, dir string, store kind, cables bool) (p *place, err error) {
	p = &place{dir: dir}
	if store == noStore {
		return p, nil
	}
	if cables {
		if p.cable, err = redistest.OpenNetwork(); err != nil {
			return p, err
		}
	}
	addr := ""
	if store == anEtcd {
		p.etcd, err = startEtcd(ctx, dir, near.of(p.cable))
		addr = p.etcd.addr
	} else if err = p.startRedis(); err == nil {
		addr = p.redis.Addr()
	}
	if err == nil && p.cable == nil {
		p.relay, err = forward(addr)
	}
	return p, err
}

func (p *place) startRedis() (err error) {
	if p.clock, err = redistest.OpenClock(p.dir); err != nil {
		return err
	}
	p.redis, err = redistest.New(p.dir, redistest.Options{Persist: true, On: near.of(p.cable), Clock: p.clock})
	return err
}

// openWatched makes a place with a master on the near side, a replica on the far one, and
// sentinels: one near, two far.
func openWatched(dir string) (p *place, err error) {
	p = &place{dir: dir}
	if p.cable, err = redistest.OpenNetwork(); err != nil {
		return p, err
	}
	l, r := p.cable.Left, p.cable.Right
	watch, err := redistest.NewSentinel(dir,
		redistest.SentinelOptions{Replicas: 1, Places: []*redistest.Host{l, r, l, r, r}})
	if err == nil {
		p.watch = watch
	}
	return p, err
}

func (p *place) close() {
	if p.redis != nil {
		p.redis.Close()
	}
	if p.etcd != nil {
		p.etcd.kill()
	}
	if p.watch != nil {
		p.watch.Close()
	}
	if p.relay != nil {
		p.relay.close()
	}
	if p.clock != nil {
		p.clock.Close()
	}
	if p.cable != nil {
		p.cable.Close()
	}
}

// variables say to the tools of a side where the store is.
func (p *place) variables(s side) []string {
	switch {
	case p.watch != nil:
		hosts := p.sentinels(s)
		return []string{"REDIS_SENTINELS=" + hosts, "REDLOCKRUN_REDIS=redis+sentinel://" + hosts + "/mymaster/0"}
	case p.redis != nil:
		addr := p.addr(s, p.redis.Addr())
		return []string{"REDIS_ADDR=" + addr, "REDLOCKRUN_REDIS=redis://" + addr}
	case p.etcd != nil:
		return []string{"ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + p.addr(s, p.etcd.addr)}
	}
	return nil
}

// sentinels are those of a side: no job asks one that it may not reach.
func (p *place) sentinels(s side) string {
	all := p.watch.Sentinels
	if s == near {
		return all[0].Addr()
	}
	return all[1].Addr() + "," + all[2].Addr()
}

func (p *place) addr(s side, direct string) string {
	if s == far && p.relay != nil {
		return p.relay.addr()
	}
	return direct
}

// cut stops everything between the far side and the near one until heal.
func (p *place) cut() error {
	if p.cable == nil {
		p.relay.hold(true)
		return nil
	}
	return p.cable.Cut()
}

func (p *place) heal() error {
	if p.cable == nil {
		p.relay.hold(false)
		return nil
	}
	return p.cable.Heal()
}

// freeze and restart are of the one store that there is.
func (p *place) freeze(sig unix.Signal) error {
	if p.etcd != nil {
		return p.etcd.cmd.Process.Signal(sig)
	}
	return p.redis.Signal(sig)
}

func (p *place) kill() {
	if p.etcd != nil {
		p.etcd.kill()
	} else {
		p.redis.Kill()
	}
}

// restart starts it again, with what it has on disk or without.
func (p *place) restart(ctx context.Context, withData bool) error {
	if p.etcd == nil {
		return p.redis.Restart(withData)
	}
	p.etcd.kill()
	if !withData {
		if err := os.RemoveAll(p.etcd.data); err != nil {
			return err
		}
	}
	return p.etcd.start(ctx)
}

// An etcd is a cluster of one.
type etcd struct {
	host       *redistest.Host
	data       string
	log        string
	addr, peer string
	cmd        *exec.Cmd
	ended      chan struct{}
}

func startEtcd(ctx context.Context, dir string, on *redistest.Host) (*etcd, error) {
	e := &etcd{host: on, data: filepath.Join(dir, "etcd"), log: filepath.Join(dir, "etcd.log")}
	var err error
	for range 10 { // a port that was free a moment ago can be a stranger's now
		if e.addr, e.peer, err = e.addresses(); err != nil {
			return e, err
		}
		if err = e.start(ctx); err == nil || on != nil || ctx.Err() != nil {
			break
		}
	}
	return e, err
}

// addresses are fixed ones on a host of one's own.
func (e *etcd) addresses() (client, peer string, err error) {
	if e.host != nil {
		return e.host.IP() + ":2379", e.host.IP() + ":2380", nil
	}
	one, err := listen()
	if err != nil {
		return "", "", err
	}
	defer one.Close()
	two, err := listen()
	if err != nil {
		return "", "", err
	}
	defer two.Close()
	return one.Addr().String(), two.Addr().String(), nil
}

func (e *etcd) start(ctx context.Context) error {
	log, err := os.Create(e.log)
	if err != nil {
		return err
	}
	defer log.Close()
	e.cmd = e.host.Command("etcd", "--data-dir", e.data, "--listen-client-urls", "http://"+e.addr,
		"--advertise-client-urls", "http://"+e.addr,
		"--listen-peer-urls", "http://"+e.peer, "--initial-advertise-peer-urls", "http://"+e.peer, "--initial-cluster",
		"default=http://"+e.peer)
	e.cmd.Env = append(os.Environ(), "ETCD_UNSUPPORTED_ARCH=arm64")
	e.cmd.Stdout, e.cmd.Stderr = log, log
	if err := redistest.StartBound(e.cmd); err != nil {
		return err
	}
	e.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) { _ = cmd.Wait(); close(ended) }(e.cmd, e.ended)
	if !until(ctx, patience, func() bool { return e.answers() || e.over() }) || e.over() {
		e.kill()
		said, _ := os.ReadFile(e.log)
		return fmt.Errorf("start etcd: %w\n%s", errors.Join(errors.New("it does not answer"), context.Cause(ctx)), said)
	}
	return nil
}

func (e *etcd) answers() bool {
	cmd := e.host.Command("etcdctl", "--endpoints", e.addr, "--command-timeout", "2s", "put", "here", "1")
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	return cmd.Run() == nil
}

func (e *etcd) over() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

func (e *etcd) kill() {
	if e.cmd != nil && e.ended != nil {
		_ = e.cmd.Process.Kill()
		<-e.ended
	}
}

// until returns true as soon as state does, and false when the limit has passed or ctx has ended.
func until(ctx context.Context, limit time.Duration, state func() bool) (reached bool) {
	redistest.Until(limit, func() bool {
		reached = state()
		return reached || ctx.Err() != nil
	})
	return reached
}
