-- The run that asks, as slots.lua and ledger.lua want to know it. Stands behind term.lua.
-- KEYS   4 paused, 5 resumed, 6 slots, 7 job, 8 runs, 9 bad, 10 the set of names; none but the first two of them for a run
--        that has no slot and is not entered
-- ARGV   8 how many runs the ledger keeps (0: nothing is written of it), 9 "host user pid command slot" as words,
--        10 ms since the run asked first, 11 slot ("": none), 12 name of the lock

local call, try = redis.call, redis.pcall
local lock, gone, paused = KEYS[1], KEYS[3], KEYS[4]
local resumed, slots, job, runs, bad, jobs = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local id, history, words, slot, name = string.sub(ARGV[1], 9, 34), tonumber(ARGV[8] or '0'), ARGV[9] or '', ARGV[11] or '', ARGV[12]
local now = clock()
local asked, host = now - (tonumber(ARGV[10]) or 0), string.match(words, '^%S+')
