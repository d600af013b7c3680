package doctor

import (
	"context"
	"fmt"
	"strings"
)

// Info returns the server's own description by names, or why the server does not give it.
func (v *visit) Info(ctx context.Context) (map[string]string, error) {
	if v.info == nil && v.infoErr == nil {
		var reply any
		if reply, v.infoErr = v.ask(ctx, "INFO"); v.infoErr == nil {
			v.info = pairsOf(fmt.Sprint(reply))
		}
	}
	return v.info, v.infoErr
}

func pairsOf(text string) map[string]string {
	pairs := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			pairs[name] = value
		}
	}
	return pairs
}

// setting is a setting of the server; "" if the user may not see it.
func (v *visit) setting(ctx context.Context, name string) string {
	reply, err := v.ask(ctx, "CONFIG", "GET", name)
	list, _ := reply.([]any)
	if err != nil || len(list) < 2 {
		return ""
	}
	return fmt.Sprint(list[1])
}

// hidden is the finding of a check that needs INFO, and may not see it.
func (v *visit) hidden(check, what string, err error) []Finding {
	if barred(err) {
		return []Finding{v.is(check, Unseen, "cannot check %s: user %s lacks the right", what, v.user()).
			to("%s allows the check; no job needs that right", v.grant("+info"))}
	}
	return []Finding{v.is(check, Fail, "%s", v.Say(err)).to("check that the server is alive")}
}
