-- Pauses a job at one master: where its lock is free, the pause takes it. A pause that is wanted already is left as it is.
-- ARGV   5 the pause without since and until, 6 ms for which (0: for ever)

if wanted ~= '' and not is_wish(wanted) then return {-1, 4, 'string'} end
if wanted == '' then
  want(ARGV[5], tonumber(ARGV[6]))
  enter_pause(why)
end
if left == -2 then rest() end
return said(wanted == '' and 1 or 2)
