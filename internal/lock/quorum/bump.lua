-- Bumps the fence if the lock still is the term's: a majority of these makes the token safe to use.
-- ARGV   10 fence
-- reply  readBump in reply.go

local owner, held = ownership()
if not owner then return held end
if owner ~= WIRE.Own then return {0} end
local last, fault = last_fence()
if fault then return fault end
if last < tonumber(ARGV[10]) then set_fence(tonumber(ARGV[10])) end
return {1}
