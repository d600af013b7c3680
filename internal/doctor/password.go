package doctor

import (
	"cmp"
	"context"
	"errors"
	"io"
	"syscall"

	"redlockrun/internal/lock"
)

// checkPassword checks the user and the password, by a command that every user may run.
func checkPassword(ctx context.Context, v *visit) []Finding {
	question := []any{"TIME"}
	if v.Role == Sentinel {
		question = []any{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", v.Master}
	}
	_, err := v.ask(ctx, question...)
	unsaid, none := errors.AsType[*lock.PasswordError](err)
	switch code := refusedBy(err).Code; {
	case none:
		return []Finding{v.is("password", Fail, "%v", unsaid).
			to("run the command of --redis-password-command by hand, as this user")}
	case err == nil, barred(err):
		return []Finding{v.is("password", Ok, "%s", v.welcome())}
	case code == "NOAUTH":
		return []Finding{v.is("password", Fail, "the server needs a password, but none is set").
			to("put it into the URL, redis://USER:PASSWORD@..., or use --%s", v.passwordFlag())}
	case code == "WRONGPASS":
		return []Finding{v.is("password", Fail, "the server refuses user %s: %s", v.user(), v.Say(err)).
			to("check the user and the password")}
	case code != "":
		return []Finding{v.is("server", Fail, "%s", v.Say(err)).
			to("%s", remedyOf(err, "check the server with redis-cli"))}
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return []Finding{v.is("server", Fail, "%s", v.Say(err)).
			to("if the port uses TLS, write rediss:// instead of redis://")}
	}
	return []Finding{v.is("server", Fail, "%s", v.Say(err)).to("check that the server is Redis and answers")}
}

func (v *visit) passwordFlag() string {
	if v.Role == Sentinel {
		return "sentinel-password-file FILE"
	}
	return "redis-password-file FILE"
}

func (v *visit) welcome() string {
	switch {
	case v.Secret() && v.User() != "":
		return "the server accepts user " + v.User()
	case v.Secret():
		return "the server accepts the password"
	}
	return "the server needs none"
}

// remedyOf says how to mend a server that answers with an error; otherwise is for an unknown one.
func remedyOf(err error, otherwise string) string {
	refusal := refusedBy(err)
	return cmp.Or(refusal.Hint(), otherwise)
}
