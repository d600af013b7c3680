package line

import (
	"testing"

	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

const aRecord = `{"run":"aaaaaaaaaaaaaaaaaaaaaaaaaa","v":1,"fence":1795344187661,"at":1795344187661}`

func FuzzAReplyOfTheAcquireStep(f *testing.F) {
	locktest.FuzzReply(f, present.acquire.Read, acquireParts,
		"*6\r\n:1\r\n:1795344187661\r\n:1795344187661\r\n:1795344187661\r\n:0\r\n:0\r\n",
		"*6\r\n:2\r\n:1795344187661\r\n:1795344187661\r\n:1795344187661\r\n:1\r\n:0\r\n",
		"*4\r\n:0\r\n:60000\r\n$83\r\n"+aRecord+"\r\n:1795344187662\r\n",
		"*7\r\n:0\r\n:60000\r\n$83\r\n"+aRecord+"\r\n:1\r\n:0\r\n:1\r\n:1795344187662\r\n",
		"*7\r\n:0\r\n:59998\r\n$83\r\n"+aRecord+"\r\n:2\r\n:1\r\n:1\r\n:1795344187664\r\n",
		"*4\r\n:3\r\n:59998\r\n$83\r\n"+aRecord+"\r\n:1795344187664\r\n",
		"*1\r\n:4\r\n",
		"*2\r\n:6\r\n$55\r\nclosed 9 aaaaaaaaaaaaaaaaaaaaaaaaaa/web-1/ok/0/17953441876\r\n",
		"*2\r\n:7\r\n$8\r\nopen 9 -\r\n",
		"*4\r\n:0\r\n:-1\r\n$10\r\nany\x00\xffbytes\r\n:1795344187667\r\n",
		"*3\r\n:-1\r\n:1\r\n$4\r\nlist\r\n",
		"*1\r\n:-2\r\n",
		"*2\r\n:-3\r\n:2\r\n",
	)
}

func acquireParts(a acquireReply) []any {
	switch a.kind {
	case granted:
		return holdParts(1, a.hold)
	case confirmed:
		return holdParts(2, a.hold)
	case refused:
		return busyParts(0, a.busy)
	case queued:
		return busyParts(0, a.busy, int64(a.position.place), a.position.listeners, bit(a.position.joined))
	case full:
		return busyParts(3, a.busy)
	case revoked:
		return []any{int64(4)}
	case slotDone:
		return []any{int64(6), a.slot}
	case exhausted:
		return []any{int64(7), a.slot}
	case wrongKey:
		return []any{int64(-1), int64(a.key + 1), a.what}
	case newer:
		return []any{int64(-3), int64(a.protocol)}
	}
	return []any{int64(-2)}
}

func holdParts(code int64, h hold) []any {
	return []any{code, h.fence, h.at, h.now, int64(h.list), bit(h.stop)}
}

func bit(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func busyParts(code int64, b busy, more ...any) []any {
	return append(append([]any{code, locktest.PTTL(b.left), b.record}, more...), b.now)
}

func FuzzAReplyOfTheConfirmStep(f *testing.F) {
	locktest.FuzzReply(f, present.confirm.Read, confirmParts,
		"*6\r\n:2\r\n:1795344187661\r\n:1795344187661\r\n:1795344187665\r\n:1\r\n:1\r\n",
		"*3\r\n:-1\r\n:6\r\n$4\r\nlist\r\n",
		"*1\r\n:0\r\n",
	)
}

func confirmParts(c confirmReply) []any {
	switch {
	case c.ours:
		return holdParts(2, c.hold)
	case c.wrong:
		return []any{int64(-1), int64(c.key + 1), c.what}
	}
	return []any{int64(0)}
}

func FuzzAReplyOfTheRenewStep(f *testing.F) {
	locktest.FuzzReply(f, present.renew.Read, renewParts,
		"*1\r\n:4\r\n",
		"*3\r\n:1\r\n:1795344187668\r\n:0\r\n",
		"*1\r\n:5\r\n",
	)
}

func renewParts(n renewReply) []any {
	if n.owner == wire.Own {
		return []any{int64(n.owner), n.now, bit(n.stop)}
	}
	return []any{int64(n.owner)}
}

func FuzzAReplyOfTheReleaseStep(f *testing.F) {
	locktest.FuzzReply(f, present.release.Read, releaseParts,
		"*4\r\n:5\r\n:60000\r\n$83\r\n"+aRecord+"\r\n:1795344187665\r\n",
		"*1\r\n:1\r\n",
		"*1\r\n:4\r\n",
		"*3\r\n:-1\r\n:6\r\n$4\r\nlist\r\n",
		"*4\r\n:5\r\n:-1\r\n$10\r\nany\x00\xffbytes\r\n:1795344187667\r\n",
	)
}

func releaseParts(l releaseReply) []any {
	switch {
	case l.owner == wire.Others:
		return busyParts(int64(l.owner), l.busy)
	case l.wrong:
		return []any{int64(-1), int64(l.key + 1), l.what}
	}
	return []any{int64(l.owner)}
}
