-- Gives the lock back if this run has it, leaves the line if it waits, and hands a free lock to the first in
-- line. May be repeated. Stands behind run.lua and line.lua.
-- ARGV   2 ms that the lock stays taken after the run (0: none),
--        3 ms for which an acquire of this run that is still under way does nothing (0: none), 4 "1" if this run has waited
-- reply  {1}    deleted
--        {2}    kept, with a record that says that the run has ended
--        {0}    another has it
--        {-1}   nobody has it
-- First write: DEL or PEXPIRE, which Redis does not refuse when it is out of memory;
-- after it, it does not refuse SET either.

local keep, mark = tonumber(ARGV[2]), tonumber(ARGV[3])

local function keep_on(held)
  call('PEXPIRE', lock, keep)
  local ended = string.sub(held, 1, 36) .. string.format('"ended":%.0f,', now) .. string.sub(held, 37)
  call('SET', lock, ended, 'PX', keep)
  announce(3, keep, ended)
  return 2
end

-- give ends this run's hold of the lock.
local function give(held)
  if mine(held) then
    if keep > 0 then return keep_on(held) end
    return call('DEL', lock)
  end
  if held and string.sub(held, 1, 36) == '{"run":"' .. id .. '",' then return 2 end
  call('PEXPIRE', gone, 60000) -- a server that refuses writes does not know who holds the lock
  return call('PTTL', lock) == -2 and -1 or 0
end

-- settled: no lease is known that goes on without its lock, save this run's, which ends here.
local function settled()
  local left, record = reserved()
  return not left or mine(record)
end

local held, fault = text(1, 1023)
if fault and fault.err then return fault end
local reply = give(held)
if ARGV[4] == '1' then leave() end
if first() and (reply == 1 or reply == -1 and settled()) then advance() end
if mark > 0 then call('SET', gone, '1', 'PX', mark) end
return {reply}
