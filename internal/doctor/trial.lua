-- Tries each command on keys of its own, and returns what came of each: its name, and the error
-- or ''. ARGV[1]: the lock's key. ARGV[2]: the set of names. They are not declared: a node of a
-- Cluster that has not the slot is asked, too; rights are looked at first.
local key = ARGV[1]
local said = {}
local function try(name, ...)
  local reply = redis.pcall(...)
  local err = type(reply) == 'table' and reply.err or ''
  said[#said + 1] = name
  said[#said + 1] = err
  return err == ''
end

-- Of a key that is not there.
try('getrange', 'getrange', key, 0, 0)
try('pttl', 'pttl', key)
try('pexpire', 'pexpire', key, 1000)
try('set', 'set', key, '1', 'XX', 'PX', 1000)
try('time', 'time')
try('zrange', 'zrange', key, 0, 0)
try('zadd', 'zadd', key, 'XX', 1, 'm')
try('zcard', 'zcard', key)
try('zrank', 'zrank', key, 'm')
try('zrem', 'zrem', key, 'm')
try('zremrangebyscore', 'zremrangebyscore', key, 1, 0)
try('zscan', 'zscan', key, 0)
try('hget', 'hget', key, 'f')
try('hgetall', 'hgetall', key)
try('hlen', 'hlen', key)
try('hmget', 'hmget', key, 'f')
try('hdel', 'hdel', key, 'f')
try('lindex', 'lindex', key, 0)
try('lrange', 'lrange', key, 0, 0)
try('zcard', 'zcard', ARGV[2])

-- A value is missing, or no number: nothing is written.
try('hset', 'hset', key, 'f', 'v', 'g')
try('hincrby', 'hincrby', key, 'f', 'x')

-- What is written is removed at once, by one of two.
local trim = try('ltrim', 'ltrim', key, 1, 0)
local del = try('del', 'del', key)
if trim or del then
  try('lpush', 'lpush', key, 'x')
  redis.pcall('ltrim', key, 1, 0)
  redis.pcall('del', key)
end

try('publish', 'publish', key .. ':none', 'p')
try('pubsub|numsub', 'pubsub', 'numsub', key .. ':none')
return said
