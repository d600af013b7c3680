-- Raises the fence if the lock still is the term's: a majority of these makes the token safe to use.
-- ARGV   4 fence
-- reply  {1}   the fence is at least that, and was raised while the lock was this term's
--        {0}   the lock is this term's no more

local whose, held = standing()
if not whose then return held end
if whose ~= 'same' then return {0} end
local last, fault = counter()
if fault then return fault end
if last < tonumber(ARGV[4]) then setCounter(tonumber(ARGV[4])) end
return {1}
