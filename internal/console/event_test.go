package console_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Programs rely on the names of the events.
func TestThePageOfFlagsNamesEveryEvent(t *testing.T) {
	page, err := os.ReadFile("../../docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, file := range []string{"event.go", "../watchdog/watch.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`(?:\sEvent[A-Z]\w+\s+= |"event", )"([a-z-]+)"`)
		for _, name := range named.FindAllSubmatch(source, -1) {
			names++
			if !strings.Contains(string(page), "`"+string(name[1])+"`") {
				t.Errorf("docs/flags.md lacks the event %s", name[1])
			}
		}
	}
	if names < 20 {
		t.Errorf("%d events were found", names)
	}
}
