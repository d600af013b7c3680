-- What the steps of an operator share: an act is entered in the ledger, and the reply says how things are after it.
-- Stands behind prelude.lua, ledger.lua, pauses.lua and what the store adds:
--   unfit_keys()      the reply that another key of its own is something else; nil if none is
--   is_own(record)    the record is one of this kind of store
--   pass_lock()       gives the lock, which is free now, to whoever has their turn
--   add_state(reply)  adds what only this store knows: the run that is first in line, what is known of it, and the pauses
--                     that have ended without some master
-- ARGV   8 why, as a word
-- reply  ChangeReply in change.go

local why = ARGV[8]

local held, fault = text(1)
if fault then return fault end
local wanted
wanted, fault = text(4)
if fault then return fault end
fault = unfit_keys()
if fault then return fault end
local left, run, ended = call('PTTL', lock), run_of(held), mark_of(held) == 'ended'

-- state is the reply: who had the lock before, the pause, and whether the job has ever run.
local function state(code, pause)
  local ran = call('PTTL', fence) ~= -2 and 1 or 0
  return add_state({code, left, held, pause or call('GETRANGE', paused, 0, WIRE.RecordEnd), now, ran})
end

-- enter_act enters what was done, in the ledger and under the job. why is a word.
local function enter_act(act, field)
  local entry = string.format('%s %s 0 0 0 0 %.0f %s - why=%s', id, words, now, act, why)
  enter(runs, entry)
  if field then note('HSET', job, field, entry) end
  note('PEXPIRE', job, WIRE.Remembered)
end

-- want_pause writes that a pause is wanted, for ms (0: for ever), and puts the job among the names, so that whoever ends
-- all pauses finds it: it may never run.
local function want_pause(pause, ms)
  local till = ms > 0 and now + ms or 0
  local value = string.sub(pause, 1, -2) .. string.format(',"since":%.0f,"until":%.0f}', now, till)
  prove_writes()
  if ms > 0 then call('SET', paused, value, 'PX', ms) else call('SET', paused, value) end
  enter_act('pause', 'paused')
  if not jobs then return end
  note('ZADD', jobs, now, name)
  note('PEXPIRE', jobs, WIRE.Remembered)
end
