-- Confirms a hand-over: begins the ttl, if this run has the lock. Stands behind run.lua and begin.lua.
-- ARGV   8 ttl in ms
-- reply  confirmReply in reply.go

local held = text(1, 1023)
if mine(held) then return confirm(held, ARGV[8]) end
return {0}
