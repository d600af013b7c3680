-- Takes the lock from a run, and hands it to the first in line.
-- ARGV   9 run that is meant ("": the value is no run's), 10 "1" if its record must say that it has ended

if left == -2 then return said(ARGV[9] == '' and 0 or -10) end
if is_pause(held) then return said(-13) end
if ARGV[9] == '' and ours ~= '' or ours ~= ARGV[9] then return said(-10) end
if ARGV[10] == '1' and not ended then return said(-15) end
call('DEL', lock)
advance()
local open = note('HGET', job, 'open') or ''
if ours ~= '' and string.sub(open, 1, 27) == ours .. ' ' then
  settle(open, 'unlocked', '-', '')
end
enter_act(why, 'unlock')
return said(1)
