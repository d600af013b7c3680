-- Confirms a hand-over: begins the ttl, if this run has the lock. Stands behind prelude.lua and begin.lua.
-- ARGV   8 ttl in ms
-- reply  confirmReply in reply.go

local held = text(1)
if held and mine(held) then return confirm(held, ARGV[8]) end
return {0}
