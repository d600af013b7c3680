-- Reads a piece of a list of entries, and writes nothing.
-- KEYS   1 runs, or bad
-- ARGV   1 first, 2 last, from 0
-- reply  runsReply in reply.go

local said = redis.pcall('LRANGE', KEYS[1], ARGV[1], ARGV[2])
if said.err then return string.find(said.err, 'WRONGTYPE', 1, true) and {-1} or said end
local reply = {1}
for i, entry in ipairs(said) do reply[1 + i] = string.sub(entry, 1, WIRE.MaxEntry + 1) end
return reply
