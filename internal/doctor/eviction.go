package doctor

import (
	"context"
	"strings"
)

// checkEviction checks whether a full server throws locks away.
func checkEviction(ctx context.Context, v *visit) []Finding {
	info, err := v.Info(ctx)
	policy, most := info["maxmemory_policy"], info["maxmemory"]
	switch {
	case err != nil:
		return v.hidden("eviction", "whether locks may be evicted", err)
	case policy == "":
		return []Finding{v.is("eviction", Unseen, "the server does not say what it evicts when its memory is full")}
	case policy == "noeviction":
		return []Finding{v.is("eviction", Ok, "maxmemory-policy noeviction: locks are never evicted")}
	case most == "0":
		return []Finding{v.is("eviction", Ok, "maxmemory-policy %s, but no maxmemory: nothing is evicted", policy)}
	}
	const remedy = "CONFIG SET maxmemory-policy noeviction, and the same in its redis.conf; " +
		"or use a separate Redis for locks"
	switch {
	case strings.HasPrefix(policy, "allkeys-"):
		return []Finding{v.is("eviction", Fail,
			"maxmemory-policy %s: when its memory is full, it evicts locks that are held", policy).to(remedy)}
	case policy == "volatile-ttl":
		return []Finding{v.is("eviction", Warn,
			"maxmemory-policy volatile-ttl: "+
				"when its memory is full, it first evicts keys that expire soonest, such as locks").to(remedy)}
	}
	return []Finding{v.is("eviction", Warn,
		"maxmemory-policy %s: when its memory is full, it may evict locks that are held", policy).to(remedy)}
}
