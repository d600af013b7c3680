package link

import (
	"errors"
	"strings"
	"testing"

	"redlockrun/internal/lock"
)

func TestAPasswordIsMaskedButNoLettersOfOtherWords(t *testing.T) {
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
		if also := sayOne(errors.New(c.said), Address{sentinelPassword: c.password}); got != lock.Escaped(c.want) ||
			also != got {
			t.Errorf("%q in %q: %q and %q, want %q", c.password, c.said, got, also, c.want)
		}
	}
}

// However a server repeats it: escaped, escaped again, cut, or as a part of a longer word.
func TestEveryFormOfAPasswordIsMasked(t *testing.T) {
	for _, c := range []struct{ password, said, want string }{
		{"s3cret", "tokens3cretexpired", "token***expired"},
		{"s3cretly", "nos3cretlys3cretly!", "no***!"},
		{`p"w\1'z`, `no user 'p\"w\\1\'z'`, `no user '***'`},
		{`p"w\1'z`, `said \"p\\\"w\\\\1'z\"`, `said \"***\"`},
		{"pä\x01w\n", `bad 'p\xc3\xa4\x01w\n'`, `bad '***'`},
		{"pä\x01w\n", `{"bad":"p\u00e4\u0001w\n"}`, `{"bad":"***"}`},
		{"pä\x01w\n", `bad p\303\244\001w\012`, `bad ***`},
		{"p/ä w&x", "GET /?p=p%2f%c3%A4+w%26x", "GET /?p=***"},
		{"p/ä w&x", "GET /?p=p%252f%25c3%25A4%20w%2526x", "GET /?p=***"},
		{"correct horse battery staple", "no 'correct horse bat'", "no '***'"},
		{"correct horse battery staple", "correct answer", "correct answer"},
	} {
		if got, want := sayOne(errors.New(c.said), Address{password: c.password}), lock.Escaped(c.want); got != want {
			t.Errorf("%q in %q: %q, want %q", c.password, c.said, got, want)
		}
	}
}

func TestALongRefusalIsNoPlaceForAPassword(t *testing.T) {
	password := strings.Repeat("long password ", 1000)
	if got := mask(strings.Repeat(password, 100), password); strings.Contains(got, "long passwor") {
		t.Errorf("%.100s", got)
	}
}
