-- Takes the lock for a term if it is nobody's, or an older term's of this run.
-- ARGV   4 rest of the record   5 ttl in ms   6 clock of the client in ms
--        7 seconds for which the server must be up to vote (0: it need not)
-- reply  grantReply in reply.go
-- First write: the fence, or nothing has been written.

local whose, held = standing()
if not whose then return held end
if whose == 'newer' or revoked() then return {4} end
if whose == 'same' then return {2} end
if whose == 'another' then
  redis.call('PEXPIRE', KEYS[3], 60000) -- a server that refuses writes does not know who holds the lock
  return {0, redis.call('PTTL', KEYS[1]), held, clock()}
end

local server, wanted = '', tonumber(ARGV[7])
if wanted > 0 then
  local info = redis.call('INFO', 'server')
  server = string.match(info, 'run_id:(%x+)') or ''
  local up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)') or '0')
  if up < wanted then return {5, wanted - up} end
end

local last, fault = counter()
if fault then return fault end
local fence = math.max(last + 1, tonumber(ARGV[6]))
if fence >= 2 ^ 53 then return {-2} end
setCounter(fence)
take(ARGV[4], ARGV[5], 0)
return {1, fence, server}
