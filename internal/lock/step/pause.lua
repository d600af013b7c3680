-- Pauses a job: wherever its lock becomes free, the pause takes it. A pause that is wanted already is left as it is.
-- ARGV   9 the pause without since and until, 10 ms for which (0: for ever)

if wanted ~= '' and not is_wish(wanted) then return {-1, 4, 'string'} end
if wanted == '' then want_pause(ARGV[9], tonumber(ARGV[10])) end
if left == -2 then pass_lock() end
return state(wanted == '' and 1 or 2)
