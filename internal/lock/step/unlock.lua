-- Takes the lock from a run, and passes it on.
-- ARGV   9 run that is meant ("": the value is no run's), 10 "1" if its record must say that it has ended

if left == -2 then return state(ARGV[9] == '' and 0 or -10) end
if is_pause(held) then return state(-13) end
if run ~= ARGV[9] then return state(-10) end
if ARGV[10] == '1' and not ended then return state(-15) end
call('DEL', lock)
if run ~= '' then spend_fence() end
pass_lock()
local known = note('HMGET', job, 'open', 'last') or {}
local open, last = known[1] or '', known[2] or ''
if run ~= '' and run == string.match(open, '^%S+') then
  -- A run whose quorum repairs this master meanwhile can lose its lock here twice: its end is entered once.
  if string.match(last, '^%S+') == run and string.find(last, ' unlocked ', 1, true) then
    note('HSET', job, 'open', '')
  else
    record_end(open, 'unlocked', '-', '')
  end
end
enter_act('unlock')
return state(1)
