-- Begins the ttl of the lock anew if it is the term's.
-- ARGV   10 ttl in ms
-- reply  readRenew in reply.go
-- PEXPIRE alone: Redis does not refuse it when it is out of memory.

local owner, held = ownership()
if owner == WIRE.Own then
  call('PEXPIRE', lock, ARGV[10])
  return {WIRE.Own, mark_of(held) == 'stop' and 1 or 0}
end
prove_writes()
return {owner or WIRE.Others}
