-- Marks the record of a run, so that its holder ends it. May be repeated.
-- ARGV   9 run that is meant ("": whichever has the lock), 10 a pause without since and until ("": none is wanted),
--        11 ms for which (0: for ever)

if ARGV[10] ~= '' and wanted == '' then
  want(ARGV[10], tonumber(ARGV[11]))
  enter_pause(why)
end
if left == -2 then return said(0) end
if is_pause(held) then return said(0) end
if ours == '' then return said(-12) end
if ARGV[9] ~= '' and ours ~= ARGV[9] then return said(-10) end
if ended then return said(3) end
if told_to_stop(held) then return said(2) end
call('PEXPIRE', gone, 60000) -- after a first write a server that is out of memory does not refuse SET
local marked = string.sub(held, 1, 36) .. '"stop":"' .. id .. '",' .. string.sub(held, 37)
if left == -1 then call('SET', lock, marked) else call('SET', lock, marked, 'PX', math.max(left, 1)) end -- 0: its last ms
enter_act(why, 'stop', 'stopped')
return said(1)
