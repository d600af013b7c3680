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
		return []Finding{v.is("eviction", Unseen, "it does not say what it evicts when it is full")}
	case policy == "noeviction":
		return []Finding{v.is("eviction", Ok, "maxmemory-policy noeviction: it throws no lock away")}
	case most == "0":
		return []Finding{v.is("eviction", Ok, "maxmemory-policy %s, but no maxmemory: it throws nothing away", policy)}
	}
	const remedy = "CONFIG SET maxmemory-policy noeviction, and the same in its redis.conf; " +
		"or a Redis of their own for the locks"
	switch {
	case strings.HasPrefix(policy, "allkeys-"):
		return []Finding{v.is("eviction", Fail,
			"maxmemory-policy %s: when it is full it throws locks away while they are held", policy).to(remedy)}
	case policy == "volatile-ttl":
		return []Finding{v.is("eviction", Warn,
			"maxmemory-policy volatile-ttl: "+
				"when it is full it throws away first what ends soonest, and that is the locks").to(remedy)}
	}
	return []Finding{v.is("eviction", Warn,
		"maxmemory-policy %s: when it is full it may throw locks away while they are held", policy).to(remedy)}
}
