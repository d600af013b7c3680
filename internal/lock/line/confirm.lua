-- Confirms a hand-over: begins the ttl, if this run has the lock. Stands behind run.lua.
-- ARGV   2 ttl in ms
-- reply  {2, fence, at, now}   this run has it, since at; times are the server's, in ms
--        {0}                   it has not; acquire tells why

local held = text(1, 1023)
if mine(held) then return confirm(held, ARGV[2]) end
return {0}
