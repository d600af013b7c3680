-- Removes what is remembered of a job: lock, line and fence stay.

if wanted ~= '' or is_pause(held) then return said(-13) end
if left ~= -2 and not ended then return said(-14) end
local removed = call('DEL', job, runs, bad, slots)
if jobs then removed = removed + (tonumber(try('ZREM', jobs, name)) or 0) end
return said(removed > 0 and 1 or 0)
