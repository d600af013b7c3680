-- Takes the lock for a term of a run that holds a majority elsewhere, and raises the fence. What runs runs on: a pause has
-- the lock of a master only until then. Stands behind term.lua, doubt.lua and rest.lua.
-- ARGV   4 rest of the record   5 ttl in ms   6 fence   7 ms for which the run has had the lock
--        13 ids of pauses that have ended
-- reply  readHeal in reply.go

lift(ARGV[13])
local whose, held = standing()
if not whose then return held end
if whose == 'another' and not is_pause(held) then return {0} end
if whose == 'newer' or revoked() then return {4} end
local refused = slot_refused()
if refused then return wrong_slots(refused) end
local last, fault = counter()
if fault then return fault end
if last < tonumber(ARGV[6]) then setCounter(tonumber(ARGV[6])) end
refused = begin_here()
if refused then return refused end
take(ARGV[4], ARGV[5], tonumber(ARGV[7]), whose == 'older' and stop_of(held) or '')
open_here(tonumber(ARGV[6]), now - tonumber(ARGV[7]))
return {1}
