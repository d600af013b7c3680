-- Gives the lock back if this run has it. May be repeated.
-- KEYS   1 lock, 2 tombstone of this run
-- ARGV   1 run id, 2 ms that the lock stays taken after the run (0: none),
--        3 ms for which an acquire of this run that is still under way does nothing (0: none)
-- reply  {1}    deleted
--        {2}    kept, with a record that says that the run has ended
--        {0}    another has it
--        {-1}   nobody has it
-- First write: DEL or PEXPIRE, which Redis does not refuse when it is out of memory;
-- after it, it does not refuse SET either.

local held = redis.pcall('GETRANGE', KEYS[1], 0, 1023)
if type(held) ~= 'string' and not string.find(held.err, 'WRONGTYPE', 1, true) then return held end
local reply
if type(held) == 'string' and string.sub(held, 1, 36) == '{"run":"' .. ARGV[1] .. '",' then
  if string.sub(held, 37, 43) == '"ended"' then
    reply = 2
  elseif tonumber(ARGV[2]) > 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    local time = redis.call('TIME')
    local ended = string.format('"ended":%.0f,', time[1] * 1000 + math.floor(time[2] / 1000))
    redis.call('SET', KEYS[1], string.sub(held, 1, 36) .. ended .. string.sub(held, 37), 'PX', ARGV[2])
    reply = 2
  else
    redis.call('DEL', KEYS[1])
    reply = 1
  end
else
  redis.call('PEXPIRE', KEYS[2], 60000) -- a server that refuses writes does not know who holds the lock
  reply = redis.call('PTTL', KEYS[1]) == -2 and -1 or 0
end
if tonumber(ARGV[3]) > 0 then redis.call('SET', KEYS[2], '1', 'PX', ARGV[3]) end
return {reply}
