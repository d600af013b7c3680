-- What an operator's steps write: the act, in the ledger, and that a pause is wanted. Uses call, now, id (the change's),
-- words, job, runs, jobs, name, paused and gone. Stands behind ledger.lua.

-- enter_act enters what was done, in the ledger and under the job. why is a word.
local function enter_act(why, act, field)
  local entry = string.format('%s %s 0 0 0 0 %.0f %s - why=%s', id, words, now, act, why)
  enter(runs, entry)
  if field then note('HSET', job, field, entry) end
  note('PEXPIRE', job, ledger_life)
end

-- enter_pause enters a pause, and puts the job among the names, so that whoever ends all pauses finds it: it may never run.
local function enter_pause(why)
  enter_act(why, 'pause', 'paused')
  if not jobs then return end
  note('ZADD', jobs, now, name)
  note('PEXPIRE', jobs, ledger_life)
end

-- want writes that a pause is wanted, for ms (0: for ever).
local function want(text, ms)
  local till = ms > 0 and now + ms or 0
  local value = string.sub(text, 1, -2) .. string.format(',"since":%.0f,"until":%.0f}', now, till)
  call('PEXPIRE', gone, 60000) -- after a first write a server that is out of memory does not refuse SET
  if ms > 0 then call('SET', paused, value, 'PX', ms) else call('SET', paused, value) end
end
