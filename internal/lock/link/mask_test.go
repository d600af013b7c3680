package link

import (
	"errors"
	"testing"

	"redlockrun/internal/lock"
)

func TestS3APasswordIsBlottedOutButNoLettersOfOtherWords(t *testing.T) {
	for _, c := range []struct{ password, said, want string }{
		{"a", "WRONGPASS invalid pair a", "WRONGPASS invalid pair ***"},
		{"a", "user 'a' is an alias", "user '***' is an alias"},
		{"e", "é e \xff", "é *** \xff"},
		{"pass", "wrong password (pass)", "wrong password (***)"},
		{"a b", "not a b, but a bee", "not ***, but a bee"},
		{"#1", "x#1 #1 #12", "x*** *** #12"},
		{"p/w", "p/w p%2Fw P%2FW", "*** *** P%2FW"},
		{"p w", "p+w p%20w", "*** ***"},
		{"x", "xx x xx x", "xx *** xx ***"},
		{"", "all of it", "all of it"},
	} {
		got := sayOne(errors.New(c.said), Address{password: c.password})
		if also := sayOne(errors.New(c.said), Address{sentinelPassword: c.password}); got != lock.Plain(c.want) || also != got {
			t.Errorf("%q in %q: %q and %q, want %q", c.password, c.said, got, also, c.want)
		}
	}
}
