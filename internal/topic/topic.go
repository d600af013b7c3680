// Package topic has the help on one subject: exit statuses, the environment, recipes, times. Help,
// manual and completion read it.
package topic

// A Topic is a page of the help that is no command's.
type Topic struct {
	Name  string
	Short string // a whole phrase
	Text  string // an example first; lines of at most 100 columns
}

// All returns the topics, in the order of the help.
func All() []Topic {
	return []Topic{
		{"exit-codes", "tells what each exit status means", exitCodes},
		{"environment", "tells which variables and files redlockrun reads and sets", environment},
		{"recipes", "shows complete lines for crontab, systemd, scripts and Kubernetes", recipes},
		{"times", "tells how ttl, renewals and grace fit together", times()},
	}
}

// Named returns the topic of a name.
func Named(name string) (t Topic, known bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

// Names returns the names of all topics.
func Names() (names []string) {
	for _, t := range All() {
		names = append(names, t.Name)
	}
	return names
}
