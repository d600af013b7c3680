-- Raises the fence if the lock still is the term's: a majority of these makes the token safe to use.
-- ARGV   4 fence
-- reply  readRaise in reply.go

local whose, held = standing()
if not whose then return held end
if whose ~= 'same' then return {0} end
local last, fault = counter()
if fault then return fault end
if last < tonumber(ARGV[4]) then setCounter(tonumber(ARGV[4])) end
return {1}
