-- Reads a piece of the set of names, and writes nothing.
-- KEYS   1 jobs
-- ARGV   1 cursor: 0 at first, then as the last piece said
-- reply  namesReply in reply.go

local said = redis.pcall('ZSCAN', KEYS[1], ARGV[1], 'COUNT', 1000)
if said.err then return string.find(said.err, 'WRONGTYPE', 1, true) and {-1} or said end
local reply = {1, said[1]}
for i = 1, #said[2], 2 do reply[#reply + 1] = string.sub(said[2][i], 1, 1024) end
return reply
