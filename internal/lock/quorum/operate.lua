-- What an operator's steps share at one master: the reply says how things are after it. The run id is that of the change.
-- Stands behind term.lua, run.lua, ledger.lua, acts.lua and rest.lua.
-- ARGV   4 why, as a word, 5 to 7 what the act wants to be told
-- reply  changeReply in change.go

local why = ARGV[4]
local left = call('PTTL', lock)
local held, fault = text(1)
if fault then return fault end
local wanted
wanted, fault = text(4)
if fault then return fault end
local run, ended = string.match(held, '^{"run":"(%w+)",') or '', string.sub(held, 37, 43) == '"ended"'

-- said is the reply: who had the lock before, the pause, whether the job has ever run, and which pauses have ended without
-- some master.
local function said(code, pause)
  return {code, left, held, pause or call('GETRANGE', paused, 0, 1023), now, call('PTTL', KEYS[2]) ~= -2 and 1 or 0, ends()}
end
