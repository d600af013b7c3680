-- What an operator's steps share: an act is entered in the ledger, and the reply says how things are after it. The run id
-- is that of the change. Stands behind run.lua, slots.lua, ledger.lua, acts.lua and line.lua.
-- ARGV   8 why, as a word
-- reply  changeReply in reply.go

local why = ARGV[8]

local held, fault = text(1, 1023)
if fault then return fault end
local wanted
wanted, fault = text(7, 1023)
if fault then return fault end
fault = unfit(true)
if fault then return fault end
local left = call('PTTL', lock)
local ours, ended = run_of(held), string.sub(held, 37, 43) == '"ended"'

-- said is the reply: who had the lock before, the pause, who is the first in line now, and whether the job has ever run.
local function said(code, pause)
  local run, ran = first(), call('PTTL', fence) ~= -2 and 1 or 0
  return {code, left, held, pause or call('GETRANGE', paused, 0, 1023), now, run or '', run and call('HGET', who, run) or '', ran}
end
