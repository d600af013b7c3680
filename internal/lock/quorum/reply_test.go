package quorum

import (
	"fmt"
	"testing"
	"time"

	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

const aRecord = `{"run":"01M81DMTT12W82XVDCC6DMTXSB","vote":"00000007.00000000.00","v":1,"host":"web-3","pid":4121,` +
	`"user":"alice","cmd":"php","start":1795344198465,"at":1795344198501}`

const (
	aSlot = "open 1795344198501 01M81DMTT12W82XVDCC6DMTXSB/web-3 " +
		"01M81DMTT12W82XVDCC6DMTXSA/web-1/failed/1/1795344198001"
	anOpen = "01M81DMTT12W82XVDCC6DMTXSB web-3 alice 4121 php - 0 1795344198501 1795344198465 1795344198501"
)

func FuzzAReplyOfTheGrantStep(f *testing.F) {
	locktest.FuzzReply(f, present.grant.Read, grantParts,
		"*2\r\n:5\r\n:61\r\n",
		"*4\r\n:1\r\n:1795344198461\r\n$0\r\n\r\n$0\r\n\r\n",
		"*1\r\n:2\r\n",
		"*1\r\n:4\r\n",
		"*4\r\n:0\r\n:60000\r\n$166\r\n"+aRecord+"\r\n:1795344198501\r\n",
		"*4\r\n:0\r\n:-1\r\n$10\r\nany\x00\xffbytes\r\n:1795344198503\r\n",
		"*3\r\n:-1\r\n:1\r\n$4\r\nlist\r\n",
		"*1\r\n:-2\r\n",
		"*2\r\n:-3\r\n:2\r\n",
		"*6\r\n:1\r\n:1795344198461\r\n$0\r\n\r\n$0\r\n\r\n$"+
			fmt.Sprint(len(aSlot))+"\r\n"+aSlot+"\r\n$"+fmt.Sprint(len(anOpen))+"\r\n"+anOpen+"\r\n",
		"*6\r\n:0\r\n:-1\r\n$1\r\nx\r\n:1795344198503\r\n$0\r\n\r\n$"+fmt.Sprint(len(anOpen))+"\r\n"+anOpen+"\r\n",
		"*2\r\n:6\r\n$"+fmt.Sprint(len(aSlot))+"\r\n"+aSlot+"\r\n",
	)
}

func grantParts(g grantReply) []any {
	switch g.kind {
	case granted:
		return []any{int64(1), g.fence, g.server, g.ends, g.slot, g.unconfirmed}
	case refused:
		return []any{int64(0), locktest.PTTL(g.left), g.record, g.now, g.slot, g.unconfirmed}
	case closed:
		return []any{int64(6), g.slot}
	case duplicate:
		return []any{int64(2)}
	case revoked:
		return []any{int64(4)}
	case abstained:
		return []any{int64(5), int64(g.wait / time.Second)}
	}
	if g.kind == newer {
		return []any{int64(-3), int64(g.protocol)}
	}
	if g.wrong.full {
		return []any{int64(-2)}
	}
	return []any{int64(-1), int64(g.wrong.at + 1), g.wrong.kind}
}

func FuzzAReplyOfTheBumpStep(f *testing.F) {
	locktest.FuzzReply(f, present.bump.Read, bumpParts,
		"*1\r\n:1\r\n",
		"*1\r\n:0\r\n",
		"*3\r\n:-1\r\n:1\r\n$4\r\nlist\r\n",
		"*2\r\n:-3\r\n:2\r\n",
	)
}

func bumpParts(done bool) []any {
	if done {
		return []any{int64(1)}
	}
	return []any{int64(0)}
}

func FuzzAReplyOfTheRenewStep(f *testing.F) {
	locktest.FuzzReply(f, present.renew.Read, renewParts,
		"*2\r\n:1\r\n:0\r\n",
		"*2\r\n:1\r\n:1\r\n",
		"*1\r\n:2\r\n",
		"*1\r\n:4\r\n",
		"*1\r\n:5\r\n",
	)
}

func renewParts(n renewReply) []any {
	parts := ownershipParts(n.owner)
	if n.owner != wire.Own {
		return parts
	}
	stop := int64(0)
	if n.stop {
		stop = 1
	}
	return append(parts, stop)
}

func ownershipParts(o wire.Ownership) []any { return []any{int64(o)} }

func FuzzAReplyOfTheRepairStep(f *testing.F) {
	locktest.FuzzReply(f, present.repair.Read, ownershipParts,
		"*1\r\n:1\r\n",
		"*1\r\n:3\r\n",
		"*1\r\n:5\r\n",
		"*3\r\n:-1\r\n:1\r\n$4\r\nlist\r\n",
		"*2\r\n:-3\r\n:2\r\n",
		"*1\r\n:-2\r\n",
	)
}

func FuzzAReplyOfTheReleaseStep(f *testing.F) {
	locktest.FuzzReply(f, present.release.Read, ownershipParts,
		"*1\r\n:4\r\n",
		"*1\r\n:1\r\n",
		"*1\r\n:5\r\n",
	)
}

// A holder's name is anybody's: the value of a key.
func FuzzTheOwnerOfAnyValueIsNamed(f *testing.F) {
	f.Add(aRecord)
	f.Add("any\x00\xffbytes")
	f.Fuzz(func(t *testing.T, value string) {
		if named := owner(value); len(named) > max(len(value), 8) {
			t.Errorf("%q is %q's", value, named)
		}
	})
}
