package doctor

import (
	"context"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// Open finds the servers that the store consists of: those of the URLs, and those that they
// know of, which are asked for. Its error is a *lock.ConfigError, or that descriptors or memory
// were wanting; a server that does not answer is none.
func Open(ctx context.Context, cfg lock.Servers, times lock.Times, limit time.Duration) (*Examination, error) {
	e := &Examination{Servers: cfg, Limit: limit, Ear: limit, Times: times}
	if err := lock.CheckPrefix(cfg.Prefix); err != nil {
		return nil, err
	}
	for i, raw := range cfg.URLs {
		src, err := link.NewSource(cfg, raw)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		e.add(ctx, i, src)
		cancel()
	}
	return e, nil
}

// add adds the servers that one URL leads to.
func (e *Examination) add(ctx context.Context, url int, src *link.Source) {
	switch addr := src.Address(); {
	case addr.IsCluster():
		e.addNodes(ctx, url, src)
	case addr.Master() != "":
		e.addSentinels(ctx, url, src)
	default:
		e.addPeers(Peer{Role: Keeper, URL: url}, src.Named()...)
	}
}

// addPeers adds servers that are like one.
func (e *Examination) addPeers(like Peer, servers ...*link.Peer) {
	for _, s := range servers {
		like.Server = s
		e.Peers = append(e.Peers, like)
	}
}

func (e *Examination) addSentinels(ctx context.Context, url int, src *link.Source) {
	name := src.Address().Master()
	e.addPeers(Peer{Role: Sentinel, Master: name, URL: url}, src.Named()...)
	master, err := src.FindMaster(ctx)
	if err != nil {
		why := link.Unavailable(src.Address(), err).Err
		e.Incomplete = append(e.Incomplete,
			about("sentinel", Fail, "no sentinel knows the master %s: %s", lock.Escaped(name), why).
				to("check the name of the master in the URL, and the sentinels: redis-cli -p 26379 sentinel masters"))
		return
	}
	e.addPeers(Peer{Role: Keeper, URL: url}, src.Peer(master))
}

func (e *Examination) addNodes(ctx context.Context, url int, src *link.Source) {
	named := src.Named()
	e.addPeers(Peer{Role: Node, URL: url}, named...)
	nodes, err := src.SlotServers(ctx)
	if err != nil && !isSingle(link.Unavailable(src.Address(), err)) {
		why := link.Unavailable(src.Address(), err).Err
		e.Incomplete = append(e.Incomplete,
			about("cluster", Unseen, "cannot list the nodes that the URL does not name: %s", why).
				to("grant +cluster|slots to list them"))
	}
	for _, node := range nodes {
		if !contains(named, node) {
			e.addPeers(Peer{Role: Node, URL: url}, src.Peer(node))
		}
	}
}

func contains(peers []*link.Peer, address string) bool {
	for _, p := range peers {
		if p.Address() == address {
			return true
		}
	}
	return false
}
