package link

import (
	"testing"

	"redlockrun/internal/lock"
)

// What servers of several makes and ages answer, and what is made of it.
func TestRefusalsAreUnderstoodFromWhateverServer(t *testing.T) {
	const script = "local call = redis.call\nlocal v = redis.pcall('GETRANGE', KEYS[1], 0, 9)\nif v then " +
		"call('PUBLISH', 'c', 'm') end\n"
	for _, c := range []struct {
		raw, text, code, command string
		class                    class
		leave                    bool
	}{
		// Redis 6.0, by redis.call and by redis.pcall
		{"ERR Error running script (call to f_3148b0cd2b12a938baa14a8de6c2fcec16cfd5af): @user_script:3: " +
			"@user_script: 3: " +
			"-READONLY You can't write against a read only replica.",
			"READONLY You can't write against a read only replica.",
			"READONLY", "", unknown, true},
		{"@user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.  ",
			"OOM command not allowed when used memory > 'maxmemory'.", "OOM", "", unknown, false},
		{"ERR Error running script (call to f_31): @user_script:3: @user_script: 3: unknown Redis command called " +
			"from Lua script",
			"unknown Redis command called from Lua script", lock.NOCOMMAND, "PUBLISH", unfit, false},
		{"@user_script: 2: The user executing the script can't run this command or subcommand",
			"The user executing the script can't run this command or subcommand", "NOPERM", "GETRANGE", denied, false},
		{"ERR unknown command `wait`, with args beginning with: `1`, `secret`, ", "unknown command `wait`",
			lock.NOCOMMAND, "WAIT", unfit, false},
		// Redis 7
		{"READONLY You can't write against a read only replica. script: 3148b0cd2b12a938baa14a8de6c2fcec16cfd5af, on " +
			"@user_script:3.",
			"READONLY You can't write against a read only replica.", "READONLY", "", unknown, true},
		{"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
			"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "MASTERDOWN", "",
			unknown, true},
		{"ERR The user executing the script can't publish to the channel mentioned in the command script: 31, on " +
			"@user_script:3.",
			"The user executing the script can't publish to the channel mentioned in the command", "NOPERM", "PUBLISH",
			denied, false},
		{"ERR The user executing the script can't run this command or subcommand",
			"The user executing the script can't run this command or subcommand", "NOPERM", "ZSCAN", denied, false},
		{"NOPERM this user has no permissions to run the 'eval' command",
			"NOPERM this user has no permissions to run the 'eval' command", "NOPERM", "EVAL", denied, false},
		{"ERR DB index is out of range", "DB index is out of range", "NODB", "", unfit, false},
		{"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. script: " +
			"31, on @user_script:3.",
			"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
			"MISCONF", "", unknown, false},
		// Redis 8, Valkey 8
		{"ERR unknown command called from script script: 31, on @user_script:3.",
			"unknown command called from script", lock.NOCOMMAND, "PUBLISH", unfit, false},
		{"ERR ACL failure in script: User a has no permissions to run the 'pttl' command script: 31, " +
			"on @user_script:2.",
			"ACL failure in script: User a has no permissions to run the 'pttl' command", "NOPERM", "PTTL", denied,
			false},
		{"BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
			"BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "BUSY", "",
			unknown, false},
		// Valkey 9
		{"ERR OOM command not allowed when used memory > 'maxmemory'. script: , on @user_script:3.",
			"OOM command not allowed when used memory > 'maxmemory'.", "OOM", "", unknown, false},
		{"NOREPLICAS Not enough good replicas to write. script: on user_script:3.",
			"NOREPLICAS Not enough good replicas to write.", "NOREPLICAS", "", unknown, false},
		{"unknown Redis command called from script script: 31, on @user_script:3.",
			"unknown Redis command called from script", lock.NOCOMMAND, "PUBLISH", unfit, false},
		// proxies and services
		{"ERR unsupported command 'subscribe'", "unsupported command 'subscribe'", lock.NOCOMMAND, "SUBSCRIBE", unfit,
			false},
		{"ERR SELECT is not allowed in cluster mode", "SELECT is not allowed in cluster mode", lock.NOCOMMAND, "SELECT",
			unfit, false},
		{"ERR WAIT is not supported in cluster mode", "WAIT is not supported in cluster mode", lock.NOCOMMAND, "WAIT",
			unfit, false},
		{"ERR something else", "something else", "", "", unknown, false},
	} {
		r := readRefusal(c.raw, script, "ZSCAN")
		if r.Text != c.text || r.Code != c.code || r.Command != c.command || r.class != c.class || r.leave != c.leave {
			t.Errorf("%q is read as %+v", c.raw, *r)
		}
	}
}
