-- Reads a piece of the keyspace, and writes nothing. It has no keys: a node of a Cluster reads its own.
-- ARGV   1 cursor: 0 at first, then as the last piece said, 2 which keys, as SCAN takes it
-- reply  namesReply in reply.go

local said = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 5000)
local reply = {1, said[1]}
for i, key in ipairs(said[2]) do reply[2 + i] = string.sub(key, 1, 4096) end
return reply
