-- Gives the lock back if this run has it, leaves the queue if it waits, and hands a free lock to the first in
-- queue. May be repeated. Stands behind prelude.lua and queue.lua.
-- ARGV   8 ms that the lock stays taken after the run (0: none),
--        9 ms for which an acquire of this run that is still under way does nothing (0: none), 10 "1" if this run has waited,
--        11 how it ended ("": nothing was run), 12 status, 13 "1" if the lock was lost before,
--        14 "attempts fence asked at" as words, 15 when the lock was taken, 16 for how many ms the command stood still, if
--        it did
-- reply  releaseReply in reply.go
-- First write, always: DEL or PEXPIRE, which Redis does not refuse when it is out of memory;
-- after it, it does not refuse SET either.

local keep, mark, waited = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10] == '1'
local how, status, lost = ARGV[11], ARGV[12], ARGV[13]

local function keep_on(held)
  call('PEXPIRE', lock, keep)
  set_lock(with_mark(held, string.format('"ended":%.0f,', now)), keep)
end

-- give ends this run's hold of the lock. It returns whose the lock was, and whether this run's cool-down goes on.
local function give(held)
  if held and mine(held) then
    if keep > 0 then keep_on(held) else call('DEL', lock) end
    return WIRE.Own, keep > 0
  end
  prove_writes()
  if held and run_of(held) == id then return WIRE.Own, true end
  return call('PTTL', lock) == -2 and WIRE.Free or WIRE.Others
end

-- move lets the queue know, if there is one.
local function move(owner, kept)
  if unfit(waited) then return end
  if waited then leave(id) end
  if not first() then return end
  if kept and keep > 0 then announce(keep) end
  if not kept and owner ~= WIRE.Others then advance() end
end

-- record_slot is what the server has to say if it does not let the slot be written.
local function record_slot()
  if slot == '' then return end
  prove_writes()
  return end_slot(slot, host, how, status, lost)
end

local held = text(1)
local fault = record_slot()
if fault and how ~= '' then return wrong(6, fault) or call('HSET', slots, slot, '') end
local owner, kept = give(held)
if mark > 0 then call('SET', tombstone, '1', 'PX', mark) end
move(owner, kept)
close_run(id .. ' ' .. words .. ' ' .. ARGV[14], tonumber(ARGV[15]), how, status, lost, ARGV[16])
if owner == WIRE.Others then return {owner, call('PTTL', lock), held or '', now} end
return {owner}
