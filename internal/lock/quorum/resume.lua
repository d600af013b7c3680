-- Ends a pause at one master.
-- ARGV   5 "1" if only a pause with the reason in 6 is meant, 6 the reason

if wanted == '' and is_pause(held) then wanted = held end -- the wish was evicted
if wanted == '' then return said(0) end
if ARGV[5] == '1' then
  local ok, pause = pcall(cjson.decode, wanted)
  if not ok or type(pause) ~= 'table' or pause.why ~= ARGV[6] then return said(-11) end
end
call('DEL', paused)
if is_pause(held) then call('DEL', lock) end
enter_act(why, 'resume')
return said(1, wanted)
