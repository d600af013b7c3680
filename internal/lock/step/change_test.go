package step

import (
	"testing"

	"redlockrun/internal/lock/link"
	"redlockrun/internal/proof/locktest"
)

const aRecord = `{"run":"01KAMHYV00FR0ZEN0000000000","v":1,"host":"web"}`

func FuzzAReplyOfAnOperatorsStep(f *testing.F) {
	locktest.FuzzReply(f, Change(Look).Read, changeParts,
		"*9\r\n:1\r\n:60000\r\n$55\r\n"+aRecord+"\r\n$0\r\n\r\n:1795344198501\r\n:1\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n",
		"*9\r\n:-10\r\n:-2\r\n$0\r\n\r\n$10\r\nany\x00\xffbytes\r\n:1795344198501\r\n"+
			":0\r\n$1\r\na\r\n$1\r\nb\r\n$28\r\n01M81DMTT12W82XVDCC6DMTXSB@c\r\n",
		"*3\r\n:-1\r\n:4\r\n$4\r\nlist\r\n",
	)
}

func changeParts(c ChangeReply) []any {
	if c.Code == Wrong {
		return []any{c.Code, int64(c.Key + 1), c.Kind}
	}
	return []any{c.Code, c.Left, c.Held, c.Pause, c.Now, int64(link.Digit(c.Ran)), c.Next, c.Entry, c.Ends}
}
