-- Gives the lock back if a term of this run up to the one in ARGV has it. May be repeated. Stands behind term.lua and
-- doubt.lua.
-- ARGV   4 ms that the lock stays taken after the run (0: none)
--        5 ms for which a step of this run up to the term does nothing, if it is still under way (0: none)
--        6 ms since the lock was taken, 7 the fence
--        13 how the run has ended ('': nothing was run), 14 its status, 15 how often it was started, 16 "1" if the lock
--        was lost, 17 "1" if it had the lock by a majority, 18 ids of runs and 19 of tries that vanished before,
--        20 "1" if it knows of all masters what they have in doubt
-- reply  readRelease in reply.go
-- First write, always: DEL or PEXPIRE, which Redis does not refuse when it is out of memory;
-- after it, it does not refuse SET either.

local whose, held = standing()
local reply
if whose == 'same' or whose == 'older' then
  if tonumber(ARGV[4]) > 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    local ended = string.format('"ended":%.0f,', clock())
    redis.call('SET', KEYS[1], ARGV[1] .. ended .. string.sub(held, 37), 'PX', ARGV[4])
    reply = 2
  else
    redis.call('DEL', KEYS[1])
    reply = 1
  end
else
  redis.call('PEXPIRE', KEYS[3], 60000) -- a server that refuses writes does not know who holds the lock
  if whose == 'another' and string.sub(held, 1, 36) == ARGV[1] then
    reply = 2 -- ended before
  else
    reply = (whose == 'another' or not whose) and 0 or -1
  end
end
if tonumber(ARGV[5]) > 0 and not revoked() then redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[5]) end
if whose == 'newer' then return {reply} end
local how, status, lost = ARGV[13] or '', ARGV[14], ARGV[16]
local refused = slot_refused() or end_here(how, status, lost, ARGV[19])
close_here(how, status, ARGV[15], lost, ARGV[7], tonumber(ARGV[6]), ARGV[17] == '1', ARGV[18], ARGV[20] == '1')
return refused or {reply}
