-- Takes back the lock that this run had and that has vanished. No other run has had it since if the counter is still this
-- run's fence. Those in the queue keep their places. May be repeated. Stands behind prelude.lua, begin.lua and pauses.lua.
-- ARGV   8 ttl in ms, 9 the record with fence and at, 10 the fence, 11 "1" if a pause does not count
-- reply  retakeReply in reply.go
-- First write: PEXPIRE, which Redis does not refuse when it is out of memory; after it, it does not refuse SET either.

local ttl, record, number, ignores_pauses = ARGV[8], ARGV[9], tonumber(ARGV[10]), ARGV[11] == '1'

-- by_pause: a pause has the lock, or takes it now.
local function by_pause(held)
  if is_pause(held) then return true end
  local pause, _, fault = activate_pause()
  return pause ~= nil, fault
end

local held, fault = text(1)
if held and mine(held) then return confirm(held, ttl) end
prove_writes() -- a server that refuses writes does not know who holds the lock
if not held then return {0} end
if call('PTTL', tombstone) ~= -2 then return {4} end
local left = call('PTTL', lock)
if left ~= -2 and not is_pause(held) then return {0} end
local last = last_fence()
if not last or last < number then return {3} end
if last > number then return {0} end
if not ignores_pauses then
  local paused_now
  paused_now, fault = by_pause(held)
  if fault then return fault end
  if paused_now then return {5} end
end
call('SET', lock, record, 'PX', ttl)
return begin(2, record)
