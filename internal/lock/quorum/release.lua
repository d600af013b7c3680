-- Gives the lock back if a term of this run up to the one that asks has it. May be repeated. Stands behind term.lua and
-- unconfirmed.lua.
-- ARGV   10 ms that the lock stays taken after the run (0: none)
--        11 ms for which a step of this run up to the term does nothing, if it is still under way (0: none)
--        12 how the run has ended ('': nothing was run), 13 its status, 14 "1" if the lock was lost, 15 how often it was
--        started, 16 the fence, 17 ms since the lock was taken, 18 "1" if it had the lock by a majority, 19 ids of runs
--        and 20 of tries that vanished before, 21 "1" if it knows which grants all masters have unconfirmed, 22 for how many ms the command
--        stood still, if it did
-- reply  readRelease in reply.go
-- First write, always: DEL or PEXPIRE, which Redis does not refuse when it is out of memory;
-- after it, it does not refuse SET either.

local keep, mark = tonumber(ARGV[10]), tonumber(ARGV[11])
local owner, held = ownership()
if owner == WIRE.Own or owner == WIRE.OwnOlder then
  if keep > 0 then
    call('PEXPIRE', lock, keep)
    set_lock(with_mark(held, string.format('"ended":%.0f,', now)), keep)
  else
    call('DEL', lock)
  end
  owner = WIRE.Own
else
  prove_writes()
  if owner == WIRE.Others and run_of(held) == id then owner = WIRE.Own end -- ended before
end
if mark > 0 and not revoked() then call('SET', tombstone, term, 'PX', mark) end
if owner == WIRE.OwnNewer then return {owner} end
local how, status, lost = ARGV[12], ARGV[13], ARGV[14]
local unread = slot_refused()
local unwritten = slot ~= '' and not unread and end_here(how, status, lost, ARGV[20])
if ARGV[18] == '1' and how ~= '' then set_limit(tonumber(ARGV[16]), now - tonumber(ARGV[17])) end
close_here({
  how = how, status = status, lost = lost, attempts = ARGV[15], fence = ARGV[16], age = tonumber(ARGV[17]),
  leased = ARGV[18] == '1', vanished = ARGV[19], all_known = ARGV[21] == '1', stood = ARGV[22],
})
if unread then call('HGET', slots, slot) end -- refused again, it ends the step and is named
if unwritten then call('HSET', slots, slot, '') end
return {owner or WIRE.Others}
