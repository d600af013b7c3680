-- What one master cannot know: whether a run to which it gave the lock had a majority. Who had it and has not said how
-- it ended is in doubt here, until the run itself says so, or another one that has asked a majority. A try in doubt is
-- run/host/-/-/ms among those that failed; the runs in doubt are lines of the job's field doubts, as they were when
-- they were open, the latest first. Stands behind run.lua, slots.lua and ledger.lua.

local most_doubts = 8

-- slot_refused is what the server has to say if it does not show the slots, or if they are something else.
local function slot_refused()
  local v = slot ~= '' and try('HGET', slots, slot)
  return type(v) == 'table' and v or nil
end

-- wrong_slots is the reply to that.
local function wrong_slots(refused)
  if not string.find(refused.err, 'WRONGTYPE', 1, true) then return refused end
  local t = redis.pcall('TYPE', slots)
  return {-1, 6, t.ok or ''}
end

-- undoubted are failed tries without that of a run, if it is in doubt.
local function undoubted(failed, run) return (string.gsub(failed, ' ' .. run .. '/[^ /]*/%-/%S*', '')) end

-- begin_here notes that this run has the lock here. It returns what the server has to say if it refuses.
local function begin_here()
  if slot == '' then return end
  local _, closed, begun, failed = slot_state(slot)
  if closed then return end
  if begun ~= '-' and string.sub(begun, 1, 26) ~= id then failed = and_failed(failed, tried(begun, '-', '-')) end
  local value = open_slot(id .. '/' .. host, undoubted(failed, id))
  return put_slot(slot, value) and call('HSET', slots, slot, value) -- old servers say of a call alone which it is
end

-- end_here notes how this run has ended, and that others have vanished: gone are the ids of those whose try failed by it.
local function end_here(how, status, lost, gone)
  if slot == '' then return end
  local _, _, begun, failed = slot_state(slot)
  local known = undoubted(failed, id)
  for run in string.gmatch(gone, '%w+') do
    known = string.gsub(known, ' (' .. run .. '/[^ /]*)/%-/%S*', string.format(' %%1/vanished/-/%.0f', now))
  end
  if known ~= failed then put_slot(slot, open_slot(begun, known)) end
  local refused = end_slot(slot, host, how, status, lost)
  if how == '' and string.find(slot_state(slot), '^open %d+ %-$') then try('HDEL', slots, slot) end
  return refused
end

-- doubts_of are those of the runs that are not this one, at most so many.
local function doubts_of(text)
  local list = {}
  for entry in string.gmatch(text, '[^\n]+') do
    if #list < most_doubts and vanished(entry) then list[#list + 1] = entry end
  end
  return list
end

-- doubts_here are the runs that are in doubt, or open, in lines.
local function doubts_here()
  local known = note('HMGET', job, 'open', 'doubts')
  return known and table.concat(doubts_of((known[1] or '') .. '\n' .. (known[2] or '')), '\n') or ''
end

-- open_here notes that this run has the lock here, and returns the runs that are in doubt.
local function open_here(fence, at)
  local known = note('HMGET', job, 'open', 'doubts', 'listed')
  if not known then return '' end
  local doubts = table.concat(doubts_of((known[1] or '') .. '\n' .. (known[2] or '')), '\n')
  note('HSET', job, 'open', string.format('%s %s 0 %.0f %.0f %.0f', id, words, fence, asked, at), 'doubts', doubts)
  note('PEXPIRE', job, ledger_life)
  list(name, tonumber(known[3]) ~= math.floor(now / day))
  return doubts
end

-- settle_gone enters those who are gone: a majority says so. It returns the others, and reports whether there were any.
local function settle_gone(doubts, gone)
  local others, settled = {}, false
  for n = #doubts, 1, -1 do
    if string.find(gone, string.sub(doubts[n], 1, 26), 1, true) then
      settle(doubts[n], 'vanished', '-', '')
      settled = true
    else
      table.insert(others, 1, doubts[n])
    end
  end
  return others, settled
end

-- entered is the last entry of this run, if it is among the last that have ended.
local function entered()
  for n = 0, math.min(history, 50) - 1 do
    local entry = note('LINDEX', runs, n)
    if not entry or string.sub(entry, 1, 27) == id .. ' ' then return entry end -- false: there are no more
  end
end

-- close_here enters how this run has ended, and those before it who are gone. Without a lease of a majority it is as if
-- it had not been, and whoever was before it is open again. A master to which the run has never come enters it as if
-- it had. Of a run that is still in doubt nothing will be known if all masters were heard: then it is in doubt no more.
local function close_here(how, status, attempts, lost, fence, held, leased, gone, heard)
  local known = note('HMGET', job, 'open', 'doubts')
  if not known then return end
  local open, text, settled = known[1] or '', known[2] or '', false
  local mine = string.match('\n' .. open .. '\n' .. text .. '\n', '\n(' .. id .. ' [^\n]*)\n')
  if not mine and how == '' then return end
  local late, first = not mine and entered(), string.sub(open, 1, 27) == id .. ' '
  if late and string.find(late, string.format(' %s %s', how, status), 1, true) then return end -- said before
  local others = doubts_of(open .. '\n' .. text)
  local alone = first and #others == 0
  if leased then others, settled = settle_gone(others, gone) end
  local began, at = string.match(mine or '', ' (%d+) (%d+)$')
  began, at = tonumber(began) or asked, tonumber(at) or now - held
  local run = string.format('%s %s %s %s %.0f %.0f', id, words, attempts, fence, began, at)
  if not late and (settled or not first) then
    note('HSET', job, 'open', run)
    note('PEXPIRE', job, ledger_life) -- before what may be refused
  end
  close_run(run, at, how, status, lost)
  if alone or late and not settled then return end
  if first and heard then others = {} end
  open = (first and not leased or others[1] == open) and table.remove(others, 1) or ''
  note('HSET', job, 'open', open, 'doubts', table.concat(others, '\n'))
end
