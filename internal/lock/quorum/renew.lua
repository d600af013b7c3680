-- Begins the ttl of the lock anew if it is the term's.
-- ARGV   4 ttl in ms
-- reply  readRenew in reply.go
-- PEXPIRE alone: Redis does not refuse it when it is out of memory.

local whose, held = standing()
if whose == 'same' then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return {1, stop_of(held) == '' and 0 or 1}
end
redis.call('PEXPIRE', KEYS[3], 60000) -- a server that refuses writes does not know who holds the lock
return {(whose == 'another' or not whose) and 0 or -1}
