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
		return []Finding{v.is("password", Fail, "the server wants a password, and none is given").
			to("put it into the URL, redis://USER:PASSWORD@..., or name a file: --%s", v.passwordFlag())}
	case code == "WRONGPASS":
		return []Finding{v.is("password", Fail, "the server refuses user %s: %s", v.user(), v.Say(err)).
			to("check the user and the password")}
	case code != "":
		return []Finding{v.is("server", Fail, "%s", v.Say(err)).
			to("%s", remedyOf(err, "ask it by redis-cli what is wrong"))}
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return []Finding{v.is("server", Fail, "%s", v.Say(err)).
			to("is it a port for TLS? rediss:// in place of redis:// speaks it")}
	}
	return []Finding{v.is("server", Fail, "%s", v.Say(err)).to("check that it is a Redis, and alive")}
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
		return "user " + v.User() + " is let in"
	case v.Secret():
		return "the password is right"
	}
	return "none is wanted"
}

// remedyOf says how to mend a server that answers with an error; otherwise is for an unknown one.
func remedyOf(err error, otherwise string) string {
	refusal := refusedBy(err)
	return cmp.Or(refusal.Hint(), otherwise)
}
