package link

import "testing"

func TestOnlyWhatAServerSaysAsItHangsUpIsItsReason(t *testing.T) {
	t.Parallel()
	for said, code := range map[string]string{
		"-ERR max number of clients reached\r\n":                                                   "MAXCLIENTS",
		"-DENIED Redis is running in protected mode because protected mode is enabled and ...\r\n": "DENIED",
		"-ERR max number of clients rea":                                                           "",
		"-NOAUTH Authentication required.\r\n":                                                     "",
		"-LOADING Redis is loading the dataset in memory\r\n":                                      "",
		"+OK\r\n": "",
		"$35\r\n-ERR max number of clients reached\r\n": "",
	} {
		r := hangUpReason(said)
		if got := r != nil; got != (code != "") || got && r.Code != code {
			t.Errorf("%q: %v", said, r)
		}
	}
}
