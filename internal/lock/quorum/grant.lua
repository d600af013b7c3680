-- Takes the lock for a term if it is nobody's, or an older term's of this run, and no pause is wanted. Stands behind
-- term.lua, doubt.lua and rest.lua.
-- ARGV   4 rest of the record   5 ttl in ms   6 clock of the client in ms
--        7 seconds for which the server must be up to vote (0: it need not), 13 "1" if a pause does not count, 14 ids of pauses that have ended
-- reply  grantReply in reply.go
-- First write: the fence, or nothing has been written.

-- able has the server refuse now what renewing and releasing will need. There is no tombstone: nothing is written. SET is the
-- first: after a write a server that is out of memory does not refuse it.
local function able()
  redis.call('SET', KEYS[3], '', 'XX', 'PX', 60000)
  redis.call('PEXPIRE', KEYS[3], 60000)
  redis.call('DEL', KEYS[3])
end

lift(ARGV[14])
local whose, held = standing()
if not whose then return held end
local given_up, untouched = revoked()
if whose == 'newer' or given_up then return {4} end
if whose == 'same' then return {2} end
local refused = slot_refused()
if refused then return wrong_slots(refused) end
if slot ~= '' then call('HLEN', slots) end -- who may not count slots would let none go
local state, closed = '', false
if slot ~= '' then state, closed = slot_state(slot) end
if closed then return {6, state} end
local unbowed, fault = ARGV[13] == '1', nil
if unbowed and whose == 'another' and is_pause(held) then whose = 'nobody' end
if whose ~= 'another' and not unbowed then
  local pause
  pause, fault = rest()
  if fault then return fault end
  if pause then whose, held = 'another', pause end
end
if whose == 'another' then
  redis.call('PEXPIRE', KEYS[3], 60000) -- a server that refuses writes does not know who holds the lock
  local busy = {0, redis.call('PTTL', KEYS[1]), held, clock()}
  if slot ~= '' or history > 0 then busy[5], busy[6] = state, doubts_here() end
  return busy
end

local server, wanted = '', tonumber(ARGV[7])
if wanted > 0 then
  local info = redis.call('INFO', 'server')
  server = string.match(info, 'run_id:(%x+)') or ''
  local up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)') or '0')
  if up < wanted then return {5, wanted - up} end
end

local last
last, fault = counter()
if fault then return fault end
local fence = math.max(last + 1, tonumber(ARGV[6]))
if fence >= 2 ^ 53 then return {-2} end
if untouched then able() end
setCounter(fence)
refused = begin_here()
if refused then return refused end
take(ARGV[4], ARGV[5], 0, whose == 'older' and stop_of(held) or '')
if slot == '' and history == 0 then return {1, fence, server, ends()} end
return {1, fence, server, ends(), state, open_here(fence, now)}
