-- What an operator's steps share: an act is entered in the ledger, and the reply says how things are after it. The run id
-- is that of the change. Stands behind run.lua, slots.lua, ledger.lua and line.lua.
-- ARGV   8 why, as a word
-- reply  changeReply in reply.go

local why = ARGV[8]

-- enter_act enters what was done, in the ledger and under the job.
local function enter_act(act, field)
  local entry = string.format('%s %s 0 0 0 0 %.0f %s - why=%s', id, words, now, act, why)
  enter(runs, entry)
  if field then note('HSET', job, field, entry) end
  note('PEXPIRE', job, ledger_life)
end

-- want writes that a pause is wanted, for ms (0: for ever).
local function want(text, ms)
  local till = ms > 0 and now + ms or 0
  local value = string.sub(text, 1, -2) .. string.format(',"since":%.0f,"until":%.0f}', now, till)
  call('PEXPIRE', gone, 60000) -- after a first write a server that is out of memory does not refuse SET
  if ms > 0 then call('SET', paused, value, 'PX', ms) else call('SET', paused, value) end
end

local held, fault = text(1, 1023)
if fault then return fault end
local wanted
wanted, fault = text(7, 1023)
if fault then return fault end
fault = unfit(true)
if fault then return fault end
local left = call('PTTL', lock)
local ours, ended = run_of(held), string.sub(held, 37, 43) == '"ended"'

-- said is the reply: who had the lock before, the pause, and who is the first in line now.
local function said(code, pause)
  local run = first()
  return {code, left, held, pause or call('GETRANGE', paused, 0, 1023), now, run or '', run and call('HGET', who, run) or ''}
end
