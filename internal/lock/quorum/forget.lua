-- Removes what one master remembers of a job: lock and fence stay.

if wanted ~= '' or is_pause(held) then return said(-13) end
if left ~= -2 and not ended then return said(-14) end
local removed = call('DEL', job, runs, bad, slots) + (tonumber(try('ZREM', jobs, name)) or 0)
return said(removed > 0 and 1 or 0)
