-- Ends a pause, and passes on the lock that it had.
-- ARGV   9 "1" if only a pause with the reason in 10 is meant, 10 the reason

if wanted == '' and is_pause(held) then wanted = held end -- the wish was evicted
if wanted == '' then return state(0) end
if ARGV[9] == '1' then
  local ok, pause = pcall(cjson.decode, wanted)
  if not ok or type(pause) ~= 'table' or pause.why ~= ARGV[10] then return state(-11) end
end
call('DEL', paused)
if is_pause(held) or left == -2 then -- a run that had ignored it may have died
  call('DEL', lock)
  pass_lock()
end
enter_act('resume')
end_pause(wanted)
return state(1, wanted)
