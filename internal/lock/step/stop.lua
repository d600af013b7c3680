-- Marks the record of a run, so that its holder ends it. May be repeated.
-- ARGV   9 run that is meant ("": any that has the lock), 10 a pause without since and until ("": none is wanted),
--        11 ms for which (0: for ever)

if ARGV[10] ~= '' and wanted == '' then want_pause(ARGV[10], tonumber(ARGV[11])) end
if left == -2 or is_pause(held) then return state(0) end
if run == '' then return state(-12) end
if ARGV[9] ~= '' and run ~= ARGV[9] then return state(-10) end
if ended then return state(3) end
if not is_own(held) then return state(-12) end
if mark_of(held) == 'stop' then return state(2) end
prove_writes()
set_lock(with_mark(held, '"stop":"' .. id .. '",'), left)
enter_act('stop', 'stopped')
return state(1)
