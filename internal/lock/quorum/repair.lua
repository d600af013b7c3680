-- Takes the lock for a term of a run that holds a majority elsewhere, and bumps the fence. What runs runs on: a pause has
-- the lock of a master only until then. Stands behind term.lua, unconfirmed.lua, pauses.lua and ended.lua.
-- ARGV   10 record, 11 ttl in ms, 12 fence, 13 ms for which the run has had the lock, 14 ids of pauses that have ended
-- reply  readRepair in reply.go

lift(ARGV[14])
local owner, held = ownership()
if not owner then return held end
if owner == WIRE.Others and not is_pause(held) then return {WIRE.Others} end
if owner == WIRE.OwnNewer or revoked() then return {WIRE.OwnNewer} end
local fault = unfit_slots()
if fault then return fault end
local number, age, last = tonumber(ARGV[12]), tonumber(ARGV[13]), nil
last, fault = last_fence()
if fault then return fault end
if last < number then set_fence(number) end
begin_here()
take(ARGV[10], ARGV[11], age, owner == WIRE.OwnOlder and held)
open_here(number, now - age)
return {WIRE.Own}
