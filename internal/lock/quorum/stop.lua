-- Marks the record of a run at one master, so that its holder ends it. May be repeated.
-- ARGV   5 run that is meant

if left == -2 or is_pause(held) then return said(0) end
if run == '' then return said(-12) end
if run ~= ARGV[5] then return said(-10) end
if ended then return said(3) end
if string.sub(held, 37, 44) ~= '"vote":"' then return said(-12) end -- it is that of one server
if stop_of(held) ~= '' then return said(2) end
call('PEXPIRE', gone, 60000) -- after a first write a server that is out of memory does not refuse SET
local marked = string.sub(held, 1, 66) .. '"stop":"' .. id .. '",' .. string.sub(held, 67)
if left == -1 then call('SET', lock, marked) else call('SET', lock, marked, 'PX', math.max(left, 1)) end -- 0: its last ms
enter_act(why, 'stop', 'stopped')
return said(1)
