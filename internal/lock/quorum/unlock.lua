-- Takes the lock of one master from a run.
-- ARGV   5 run that is meant ("": the value is no run's)

if left == -2 then return said(ARGV[5] == '' and 0 or -10) end
if is_pause(held) then return said(-13) end
if run ~= ARGV[5] then return said(-10) end
call('DEL', lock)
local open = note('HGET', job, 'open') or ''
if run ~= '' and string.sub(open, 1, 27) == run .. ' ' then settle(open, 'unlocked', '-', '') end
enter_act(why, 'unlock')
return said(1)
