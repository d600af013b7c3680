-- The run that asks, and its place: what acquire, confirm and release share. It stands before slots.lua and ledger.lua.
-- KEYS   1 lock, 2 fence, 3 line (run id -> ticket), 4 who (run id -> "last seen", "1" if it can be called, slot, tries
--        and record; "looks" -> see line.lua), 5 tombstone of this run, 6 slots, 7 paused, 8 job, 9 runs, 10 bad
-- ARGV   1 run id, 2 how many runs the ledger keeps (0: nothing is written of it), 3 "host user pid command slot" as
--        words, 4 when the run asked first (0: now), 5 slot ("": none), 6 name of the lock, 7 the set of names: no key of
--        the step, since it lives in another slot, which is nobody's fault but a Cluster's ("": it is one)

local call, try = redis.call, redis.pcall
local lock, fence, line, who, gone, paused = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[7]
local slots, job, runs, bad, jobs = KEYS[6], KEYS[8], KEYS[9], KEYS[10], ARGV[7] ~= '' and ARGV[7] or nil
local id, history, words, slot, name = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[5], ARGV[6]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local asked, host = ARGV[4] == '0' and now or tonumber(ARGV[4]), string.match(words, '^%S+')

-- wrong is the reply that KEYS[n] is something else; nil if that is not what is wrong.
local function wrong(n, fault)
  if not string.find(fault.err, 'WRONGTYPE', 1, true) then return end
  local t = redis.pcall('TYPE', KEYS[n])
  return {-1, n, t.ok or ''}
end

-- text is the start of a string; or nil and a reply if the key is something else.
local function text(n, last)
  local v = try('GETRANGE', KEYS[n], 0, last)
  if type(v) == 'string' then return v end
  return nil, wrong(n, v) or v
end

-- run_of is the run that a record says has the lock; '' if it says nothing of the kind.
local function run_of(record)
  return string.match(record, '^{"run":"(%w+)",') or ''
end

-- is_pause: a value of the lock, or of paused, is that of a pause.
local function is_pause(value) return string.sub(value, 1, 10) == '{"pause":"' end

-- is_wish: a value of paused is a pause as redlockrun writes it, which may be put into the lock. Some servers have no cjson.
local function is_wish(value)
  return string.find(value, '^{"pause":"' .. string.rep('%w', 26) .. '","v":%d+,.*}$') ~= nil
end

-- told_to_stop: an operator has marked the record, to have its run end.
local function told_to_stop(record) return string.sub(record, 37, 43) == '"stop":' end

-- mine: the record is this run's; an ended run has no lock, only the rest of its min-hold.
local function mine(record)
  return record and string.sub(record, 1, 36) == '{"run":"' .. id .. '",' and string.sub(record, 37, 43) ~= '"ended"'
end
