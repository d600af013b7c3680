-- Removes what is remembered of a job: lock, fence and those in line stay.

if wanted ~= '' or is_pause(held) then return state(-13) end
if left ~= -2 and not ended then return state(-14) end
local removed = call('DEL', job, runs, bad, slots, KEYS[12])
if jobs then removed = removed + (tonumber(try('ZREM', jobs, name)) or 0) end
return state(removed > 0 and 1 or 0)
