-- Begins the ttl of the lock anew if this run has it. Stands behind record.lua alone.
-- KEYS   1 lock: while a Cluster moves a slot, it serves a step with one key and refuses most others
-- ARGV   1 run id, 2 ttl in ms
-- reply  renewReply in reply.go
-- PEXPIRE alone: Redis does not refuse it when it is out of memory.

local held = redis.pcall('GETRANGE', KEYS[1], 0, WIRE.RecordEnd)
if type(held) ~= 'string' and not string.find(held.err, 'WRONGTYPE', 1, true) then return held end
if type(held) == 'string' and run_of(held) == ARGV[1] and mark_of(held) ~= 'ended' then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  local time = redis.call('TIME')
  return {WIRE.Own, time[1] * 1000 + math.floor(time[2] / 1000), mark_of(held) == 'stop' and 1 or 0}
end
-- A server that refuses writes does not know who holds the lock. One that accepts them finds no number here.
local refused = redis.pcall('PEXPIRE', KEYS[1], '')
if not string.find(refused.err, 'not an integer', 1, true) then return refused end
if redis.call('PTTL', KEYS[1]) == -2 then return {WIRE.Free} end
return {WIRE.Others}
