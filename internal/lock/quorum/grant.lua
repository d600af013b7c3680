-- Takes the lock for a term if it is nobody's, or an older term's of this run, and no pause is wanted. Stands behind
-- term.lua, unconfirmed.lua, pauses.lua and ended.lua.
-- ARGV   10 record, 11 ttl in ms, 12 clock of the client in ms, 13 seconds for which the server must be up to vote (0: it
--        need not), 14 "1" if a pause does not count, 15 ids of pauses that have ended
-- reply  grantReply in reply.go
-- First write: the fence, or nothing has been written.

lift(ARGV[15])
local owner, held = ownership()
if not owner then return held end
local abandoned, untouched = revoked()
if owner == WIRE.OwnNewer or abandoned then return {4} end
if owner == WIRE.Own then return {2} end
local fault = unfit_slots()
if fault then return fault end
local state, closed = '', false
if slot ~= '' then state, closed = slot_state(slot) end
if closed then return {6, state} end
local ignores_pauses, pause = ARGV[14] == '1', nil
if ignores_pauses and owner == WIRE.Others and is_pause(held) then owner = WIRE.Free end
if owner ~= WIRE.Others and not ignores_pauses then
  local left
  pause, left, fault = activate_pause()
  if fault then return fault end
  if pause then owner, held = WIRE.Others, pause end
end
if owner == WIRE.Others then
  prove_writes()
  local busy = {0, call('PTTL', lock), held, now}
  if slot ~= '' or history > 0 then busy[5], busy[6] = state, unconfirmed_here() end
  return busy
end

local server, wanted = '', tonumber(ARGV[13])
if wanted > 0 then
  local info = call('INFO', 'server')
  server = string.match(info, 'run_id:(%x+)') or ''
  local up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)') or '0')
  if up < wanted then return {5, wanted - up} end
end

local number
number, fault = next_fence(tonumber(ARGV[12]))
if fault then return fault end
if untouched then prove_grant() end
set_fence(number)
begin_here()
take(ARGV[10], ARGV[11], 0, owner == WIRE.OwnOlder and held)
if slot == '' and history == 0 then return {1, number, server, ends()} end
return {1, number, server, ends(), state, open_here(number, now)}
