package config_test

import "testing"

func TestTheFileIsRefusedByLineNumber(t *testing.T) {
	for text, want := range map[string]string{
		"\n\nREDLOCKRUN_TTL=a b\n":               ":3: the value needs single quotes",
		"REDLOCKRUN_TTLL=5\n":                    ":1: REDLOCKRUN_TTLL is not known",
		"A=1\nREDLOCKRUN_KEY=x":                  ":2: REDLOCKRUN_KEY is not allowed in the file",
		"REDLOCKRUN_CONFIG=/x":                   ":1: REDLOCKRUN_CONFIG is not known",
		"REDLOCKRUN_PID=1":                       ":1: REDLOCKRUN_PID is not known",
		"REDLOCKRUN_TTL=5\r\n":                   ":1: the line ends in a carriage return",
		"REDLOCKRUN_TTL=":                        "REDLOCKRUN_TTL in ",
		"REDLOCKRUN_REDIS=a\nREDLOCKRUN_LOCAL=1": "contradict each other",
	} {
		_, err := read(configFile(t, text), "key=x")
		wantRefused(t, err, want)
	}
}

func TestForeignVariablesInTheFileAreIgnored(t *testing.T) {
	env := configFile(t, "PATH=/opt/bin\nREDIS_URL=redis://file\nREDLOCKRUN_TTL=9\nREDLOCKRUN_TTL=8\n")
	c, err := read(env, "key=x")
	if err != nil || c.Address.From != "the built-in default" || c.Times.TTL.Seconds() != 8 {
		t.Errorf("%+v, %v", c, err)
	}
}
