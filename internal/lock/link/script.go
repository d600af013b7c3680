package link

import (
	"strings"
	"sync"
)

// Part leaves out what only the readers of a part need. It is done when the
// part is first needed: a run needs few of them.
func Part(part *string) func() string {
	return sync.OnceValue(func() string {
		var out strings.Builder
		out.Grow(len(*part)) // in one piece: each page that is touched costs a microsecond or two
		for line := range strings.Lines(*part) {
			code, _, _ := strings.Cut(line, "--")
			if code = strings.TrimSpace(code); code != "" {
				out.WriteString(code)
				out.WriteByte('\n')
			}
		}
		return out.String()
	})
}

func Join(parts ...func() string) func() string {
	return sync.OnceValue(func() string {
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = part()
		}
		return strings.Join(texts, "")
	})
}
