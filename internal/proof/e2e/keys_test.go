//go:build linux

package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
)

// lives are how long the keys of docs/stores.md live, by what they end with.
func lives(t *testing.T) map[string]string {
	t.Helper()
	lives := map[string]string{}
	for _, row := range rows(block(t, "keys")) {
		for key := range strings.SplitSeq(row[0], "`, `") {
			lives[key] = row[2]
		}
	}
	return lives
}

// No key is in Redis of which docs/stores.md does not tell, none lives for longer, and they are
// no larger.
func TestReadmeTellsOfEachKeyAndOfItsSize(t *testing.T) {
	ability.Slow(t)
	s := newSite(t)
	const runs = 51 // the lists are full, and the slots
	for i := range runs {
		if r := s.run("redlockrun", "--key", "job", "--once", fmt.Sprint("cancel-orders-", i), "--",
			"false"); r.status != 1 {
			t.Fatal(r)
		}
	}
	reply, err := s.server.Do("KEYS", "*")
	if err != nil {
		t.Fatal(err)
	}
	told, size := lives(t), int64(0)
	for _, key := range reply.([]any) {
		life, found := told[strings.Replace(key.(string), "{job}", "{NAME}", 1)]
		if !found {
			t.Errorf("docs/stores.md does not tell of %s", key)
			continue
		}
		days := regexp.MustCompile(`(\d+) days`).FindStringSubmatch(life)
		ttl, err := s.server.Do("PTTL", key)
		if left := time.Duration(ttl.(int64)) * time.Millisecond; err != nil ||
			fmt.Sprintf("%.0f", left.Hours()/24) != days[1] {
			t.Errorf("%s lives for %v, docs/stores.md: %s (%v)", key, left, life, err)
		}
		bytes, err := s.server.Do("MEMORY", "USAGE", key, "SAMPLES", 0)
		if err != nil {
			t.Fatal(err)
		}
		size += bytes.(int64)
	}
	claim := regexp.MustCompile(`A job with a full ledger takes less than (\d+) KB`).FindStringSubmatch(users(t))
	if claim == nil {
		t.Fatal("no page says how much a job takes")
	}
	if most, err := strconv.ParseInt(claim[1], 10, 64); err != nil || size >= most*1024 {
		t.Errorf("the keys of a job take %d bytes; docs/stores.md: %q", size, claim)
	}
}
