package main

// pastFaults are faults that the program has had once, put back into it as it is today, and
// others that only a whole world shows.
var pastFaults = []fault{
	{"tell nobody that it has moved up to the front", "internal/lock/line/release.lua",
		"  if waited then leave(id) end\n", "  if waited then drop(id) end\n", "", false},
	{"announce a hand-over as two seconds long", "internal/lock/line/queue.lua",
		"        announce(ms, record)\n", "        announce(ms)\n", "", false},
	{"shorten a list after it has grown", "internal/lock/ledger/ledger.lua",
		"  note('LTRIM', list, history > 1 and 0 or 1, math.max(history - 2, 0))\n  note('LPUSH', list, entry)\n",
		"  note('LPUSH', list, entry)\n  note('LTRIM', list, 0, history - 1)\n", "", false},
	{"repeat a release by a write that can be refused", "internal/lock/line/release.lua",
		"  prove_writes()\n  if held",
		"  if held", "", false},
	{"let who is dismissed excuse nobody", "internal/lock/line/acquire.lua",
		"    leave(id)\n    if first() then note_look() end\n", "    leave(id)\n", "", false},
	{"leave no mark where a healing is under way", "internal/lock/quorum/release.go",
		"\tend.inFlight = l.isUnconfirmed(at)\n", "", "", false},
	{"give nobody the free lock of a pause that ends", "internal/lock/step/resume.lua",
		"if is_pause(held) or left == -2 then", "if is_pause(held) then", "", false},
	{"take the last millisecond of a lease for no end", "internal/lock/step/prelude.lua",
		"if left == -1 then return call('SET', lock, value) end",
		"if left <= 0 then return call('SET', lock, value) end", "", false},
	{"let who gets the lock have looked at nothing", "internal/lock/line/queue.lua",
		"        if run == caller then latest = now end -- it has looked\n", "", "", false},
	{"hand over nothing that vanished", "internal/lock/line/release.lua",
		"if not kept and owner ~= WIRE.Others then advance() end",
		"if not kept and owner == WIRE.Own then advance() end", "", false},
	{"call a release of a quorum lost whose first answer was", "internal/lock/quorum/release.go",
		"if a.err == nil && done {", "if a.err == nil && done && a.owner.Available() {", "", false},
	{"leave a fresh lease at a bare majority", "internal/lock/quorum/lease.go",
		"\t\tif v.kind == refused || v.kind == abstained {\n\t\t\trepairing.Add(1)",
		"\t\tif v.kind == refused && false {\n\t\t\trepairing.Add(1)", "", false},
	{"look at no clock after the pause between two tries", "internal/watchdog/ask.go",
		"\t\tif c.Clock.Until(by) <= 0 { // the machine was asleep\n\t\t\treturn last\n\t\t}\n", "", "", false},
	{"call a release lost whose first answer was", "internal/lock/line/release.go",
		"case done || reply.owner == wire.Own:", "case done && false || reply.owner == wire.Own:", "", false},
	{"take a hand-over for a whole lease", "internal/lock/line/queue.go",
		"\t\t\tw.handedOver = true\n\t\t\tcontinue\n", "\t\t\treturn w.fastEnough(w.interpret(reply, sent))\n", "",
		false},
	{"look at no lease when it ends", "internal/lock/line/queue.go",
		"if w.busy.Position <= frontRow && w.busy.TTL >= 0 {", "if false {", "", false},
	{"count half of the masters as a majority", "internal/lock/majority.go",
		"return size/2 + 1 }", "return size / 2 }", "", false},
	{"let go of what is under way", "internal/lock/link/conns.go",
		"!torn && c.of.inFlight.keep(c)", "torn && c.of.inFlight.keep(c)", "", false},
}

// A past is what the simulator makes of a fault of scripts/trackrecord/faults.txt.
type past struct {
	commit string // as it is there
	words  string // how its text begins there
	row    string // the fault that puts it back
	why    string // or why none does
}

// Why some faults of the record are not put back.
const (
	onlyWords = "what it got wrong is the words of a message"
	onlyTime  = "it cost time or commands, and changed no result"
)

// recorded are the faults of the record in lock, line, quorum and watchdog.
var recorded = []past{
	{"9619664", "A lock whose key was deleted", "",
		"the line has no place any more in which a lease that is gone could be kept"},
	{"9619664", "A lock whose key had vanished", "hand over nothing that vanished", ""},
	{"9619664", "Where a server has no publish", "", "each server of a world lets everybody publish and subscribe"},
	{"9619664", "After an outage of the server", "excuse nobody after an outage", ""},
	{"fd2574a", "A waiter whose server had refused", "", onlyWords},
	{"fd2574a", "With --lock-retries an outage", "", onlyWords},
	{"04ea445", "The refusal of a server was hidden", "", onlyWords},
	{"9e34906", "A run that lost its lock", "", onlyWords},
	{"7fbb8ee", "A try that the watchdog itself", "", onlyWords},
	{"a635e9a", "A renewal before the start", "look at no clock after the pause between two tries", ""},
	{"4dcd973", "An answer of the server", "", "the servers of a world answer nothing that is none of a script's own"},
	{"d42f790", "The record of a long name", "", "all names are short"},
	{"e45aeb2", "A record whose numbers", "", "no record says what no clock could"},
	{"be3c36b", "The random part of a run id", "", "a world draws the ids itself, that it can be had again"},
	{"2be0b92", "Where a server has no messages", "", onlyTime},
	{"dbe7587", "Who moved up to the front", "tell nobody that it has moved up to the front", ""},
	{"1dd04a8", "Where a user lacked one", "shorten a list after it has grown", ""},
	{"9ab8f36", "Who waited was told the 2 s", "announce a hand-over as two seconds long", ""},
	{"e4118cb", "A release that was sent again", "repeat a release by a write that can be refused", ""},
	{"cbf9d8e", "Who was back first after an outage", "let who is dismissed excuse nobody", ""},
	{"47bfe9b", "Who had the lock by --ignore-pause", "give nobody the free lock of a pause that ends", ""},
	{"2c78a0a", "Who was back first after an outage and got", "let who gets the lock have looked at nothing", ""},
	{"dd4afd1", "A pause that took the lock in its last", "take the last millisecond of a lease for no end", ""},
	{"825a858", "A master that was being healed", "leave no mark where a healing is under way", ""},
	{"b93715a", "With one master away and two runs", "",
		"two simulations of one seed show it, and a fault's seeds are simulated once"},
	{"3d57c69", "Two names of one server", "", "no server has two names"},
	{"ebde9f2", "Why no server votes was hidden", "", onlyWords},
	{"d349ac4", "A contender's vain vote", "leave a fresh lease at a bare majority", ""},
	{"d349ac4", "A refused try waited", "", onlyTime},
	{"fef1d96", "Each master was sent", "", "all that a client does at one instant has the same millisecond"},
	{"80610ee", "A release whose first try", "call a release of a quorum lost whose first answer was", ""},
	{"2a0ac47", "The address of a master", "", "a race of threads is the race detector's to find"},
	{"e059f06", "A healing that reached", "count a healing that comes too late", ""},
	{"88f5b11", "Anyone who could publish", "", "nobody in a world forges a message"},
	{"88f5b11", "Status said of each waiter", "say with each look that a waiter has just come", ""},
	{"639f523", "A user without +pexpire", "take the lock without the right to renew it", ""},
	{"639f523", "A user who may not renew", "take a master without the right to renew there", ""},
	{"cc6370a", "A pause key with a strange value was copied into the free lock: every",
		"copy a strange pause into the lock", ""},
	{"cc6370a", "A pause key with a strange value was copied into the free lock at",
		"copy a strange pause into the lock", ""},
	{"e6f536d", "After the set of names was lost", "list a job that was lost only the next day", ""},
	{"039f90a", "In a Cluster a waiter", "forget the node that a waiter was sent to", ""},
	{"2dc515c", "A resume while one of three", "keep at one master a pause that has ended", ""},
	{"9d2bdc2", "A master that refused", "", onlyWords},
}
