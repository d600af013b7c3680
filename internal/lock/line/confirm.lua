-- Confirms a hand-over: begins the ttl, if this run has the lock. Stands behind run.lua.
-- ARGV   2 ttl in ms
-- reply  confirmReply in reply.go

local held = text(1, 1023)
if mine(held) then return confirm(held, ARGV[2]) end
return {0}
