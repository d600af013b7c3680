-- Begins the ttl of the lock anew if it is the term's.
-- ARGV   10 ttl in ms
-- reply  readRenew in reply.go
-- PEXPIRE alone: Redis does not refuse it when it is out of memory.

local whose, held = standing()
if whose == 'same' then
  call('PEXPIRE', lock, ARGV[10])
  return {1, mark_of(held) == 'stop' and 1 or 0}
end
prove_writes()
return {(whose == 'another' or not whose) and 0 or -1}
