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

-- enter_act enters what was done, in the ledger and under the job. why is a word; more is behind it.
local function enter_act(act, field, more)
  local entry = string.format('%s %s 0 0 0 0 %.0f %s - why=%s%s', id, words, now, act, why, more or '')
  enter(runs, entry)
  if field then note('HSET', job, field, entry) end
  note('PEXPIRE', job, WIRE.Remembered)
end

-- write_pauses writes when the job was paused, as id/since/until; 0: no end is known.
local function write_pauses(list)
  local texts = {}
  for i, p in ipairs(list) do texts[i] = string.format('%s/%.0f/%.0f', p[1], p[2], p[3]) end
  note('HSET', job, 'pauses', table.concat(texts, ' '))
end

-- add_pause notes from when until when the job is paused. What was over when the last run succeeded goes. Of too many the
-- first goes, and its length is added to the next.
local function add_pause(till)
  local known = note('HMGET', job, 'pauses', 'good')
  if not known then return end
  local began, took = string.match(known[2] or '', '^%S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ (%d+) (%d+) ')
  local success, list = (tonumber(began) or 0) + (tonumber(took) or 0), {}
  for pause, since, ended in string.gmatch(known[1] or '', '(%w+)/(%d+)/(%d+)') do
    if tonumber(ended) > success then list[#list + 1] = {pause, tonumber(since), tonumber(ended)} end
  end
  while #list >= WIRE.MostPauses do
    local first = table.remove(list, 1)
    list[1][2] = list[1][2] - math.max(first[3] - first[2], 0)
  end
  list[#list + 1] = {id, now, till}
  write_pauses(list)
end

-- end_pause notes that a pause is over.
local function end_pause(pause)
  local known, ended = note('HGET', job, 'pauses'), string.match(pause, '^{"pause":"(%w+)"') or ''
  if not known or ended == '' then return end
  local list = {}
  for one, since, till in string.gmatch(known, '(%w+)/(%d+)/(%d+)') do
    list[#list + 1] = {one, tonumber(since), one == ended and now or tonumber(till)}
  end
  write_pauses(list)
end

-- want_pause writes that a pause is wanted, for ms (0: for ever), and puts the job among the names, so that whoever ends
-- all pauses finds it: it may never run.
local function want_pause(pause, ms)
  local till = ms > 0 and now + ms or 0
  local value = string.sub(pause, 1, -2) .. string.format(',"since":%.0f,"until":%.0f}', now, till)
  prove_writes()
  if ms > 0 then call('SET', paused, value, 'PX', ms) else call('SET', paused, value) end
  enter_act('pause', 'paused', till > 0 and string.format(' until=%.0f', till))
  add_pause(till)
  if not jobs then return end
  note('ZADD', jobs, now, name)
  note('PEXPIRE', jobs, WIRE.Remembered)
end
