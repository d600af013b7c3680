-- What one master cannot know: whether a run to which it granted the lock had a majority. Until that run says how it
-- ended, or another one that has asked a majority, its grant is unconfirmed here. In a slot an unconfirmed try is
-- run/host/-/-/ms among those that failed; the job's field unconfirmed has a line for each such run, as it was when it was
-- open, the latest first. Stands behind prelude.lua, slots.lua and ledger.lua.

-- confirmed are failed tries without that of a run, if it is unconfirmed.
local function confirmed(failed, run) return (string.gsub(failed, ' ' .. run .. '/[^ /]*/%-/%S*', '')) end

-- begin_here notes that this run has the lock here.
local function begin_here()
  if slot == '' then return end
  local _, closed, begun, failed = slot_state(slot)
  if closed then return end
  if begun ~= '-' and string.sub(begun, 1, WIRE.RunIDLen) ~= id then failed = and_failed(failed, tried(begun, '-', '-')) end
  local value = open_slot(id .. '/' .. host, confirmed(failed, id))
  if put_slot(slot, value) then call('HSET', slots, slot, value) end -- refused again, it ends the step and is named
end

-- end_here notes how this run has ended, and which tries have failed since their runs have vanished. It returns what the
-- server has to say if it refuses.
local function end_here(how, status, lost, vanished_runs)
  local _, _, begun, failed = slot_state(slot)
  local known = confirmed(failed, id)
  for run in string.gmatch(vanished_runs, '%w+') do
    known = string.gsub(known, ' (' .. run .. '/[^ /]*)/%-/%S*', string.format(' %%1/vanished/-/%.0f', now))
  end
  if known ~= failed then put_slot(slot, open_slot(begun, known)) end
  local refused = end_slot(slot, host, how, status, lost)
  if how == '' and string.find(slot_state(slot), '^open %d+ %-$') then try('HDEL', slots, slot) end
  return refused
end

-- other_runs are those in the lines of open and unconfirmed, but this one, as many as are kept.
local function other_runs(open, unconfirmed)
  local list = {}
  for entry in string.gmatch((open or '') .. '\n' .. (unconfirmed or ''), '[^\n]+') do
    if #list < 8 and vanished(entry) then list[#list + 1] = entry end
  end
  return list
end

-- unconfirmed_here are the other runs, in lines.
local function unconfirmed_here()
  local known = note('HMGET', job, 'open', 'unconfirmed')
  return known and table.concat(other_runs(known[1], known[2]), '\n') or ''
end

-- open_here notes that this run has the lock here, and returns the other runs. How old the last success may become is
-- noted with the fence 0, unless it is known: the run may have no majority.
local function open_here(number, at)
  local known = note('HMGET', job, 'open', 'unconfirmed', 'listed', 'max_age')
  if not known then return '' end
  local others = table.concat(other_runs(known[1], known[2]), '\n')
  local run = string.format('%s %s 0 %.0f %.0f %.0f', id, words, number, asked, at)
  if max_age == '' or max_age == '0' or known[4] then note('HSET', job, 'open', run, 'unconfirmed', others)
  else note('HSET', job, 'open', run, 'unconfirmed', others, limit_fields('', 0, at)) end
  note('PEXPIRE', job, WIRE.Remembered)
  list(name, tonumber(known[3]) ~= math.floor(now / day))
  return others
end

-- set_limit notes how old the last success may become, as a run that had a majority says, unless a later one has said so.
local function set_limit(number, at)
  local known = max_age ~= '' and note('HMGET', job, 'max_age')
  if not known or number <= (tonumber(string.match(known[1] or '', ' (%d+)$')) or -1) then return end
  note('HSET', job, limit_fields(known[1], number, at))
  note('PEXPIRE', job, WIRE.Remembered)
end

-- enter_vanished enters those of some runs that have vanished, the oldest first, and returns the others.
local function enter_vanished(list, vanished_runs)
  local others = {}
  for n = #list, 1, -1 do
    if string.find(vanished_runs, string.match(list[n], '^%w+'), 1, true) then
      record_end(list[n], 'vanished', '-', '')
    else
      table.insert(others, 1, list[n])
    end
  end
  return others
end

-- last_entry is that of this run, if it is among the last that have ended.
local function last_entry()
  for n = 0, math.min(history, 50) - 1 do
    local entry = note('LINDEX', runs, n)
    if not entry or string.match(entry, '^%w+') == id then return entry end -- false: there are no more
  end
end

-- place_of_run is where this run is: 'open', 'unconfirmed' or 'nowhere', and its line.
local function place_of_run(open, unconfirmed)
  local own = '\n(' .. id .. ' [^\n]*)\n'
  local line = string.match('\n' .. open .. '\n', own)
  if line then return 'open', line end
  line = string.match('\n' .. unconfirmed .. '\n', own)
  return line and 'unconfirmed' or 'nowhere', line
end

-- close_here enters how this run has ended. A run without a lease of a majority leaves the job as if it had not been.
--
--   the run is here      its end is                        open is then             unconfirmed are then
--   open, no others      entered; undone if nothing ran    none                     none
--   open, leased         the same                          none                     the others; none if all are known
--   open, not leased     the same                          the latest of the others the rest; none if all are known
--   unconfirmed          the same                          as before                the others but that
--   nowhere              entered; nothing if nothing ran   as before                the others but that
--   nowhere, and ended   entered if it is another end      as before                the others but that
--
-- "The others" are the runs beside it that are open or unconfirmed here. A leased run enters first those of them that have
-- vanished, and the rest are the others then. All are known if all masters have said which grants they have unconfirmed:
-- nothing will ever be known of these. A run is nowhere at a master to which it has not come, or has come back.
-- run   how, status, attempts, lost, fence, age (ms since the lock was taken), leased, vanished (ids), all_known, stood
local function close_here(run)
  local known = note('HMGET', job, 'open', 'unconfirmed')
  if not known then return end
  local before = known[1] or ''
  local place, line = place_of_run(before, known[2] or '')
  if place == 'nowhere' and run.how == '' then return end
  local entry = place == 'nowhere' and last_entry()
  if entry and string.find(entry, string.format(' %s %s', run.how, run.status), 1, true) then return end -- a repeated release
  local began, at = string.match(line or '', ' (%d+) (%d+)$')
  at = tonumber(at) or now - run.age
  line = string.format('%s %s %s %s %.0f %.0f', id, words, run.attempts, run.fence, tonumber(began) or asked, at)

  local others = other_runs(known[1], known[2])
  if place == 'open' and #others == 0 then return close_run(line, at, run.how, run.status, run.lost, run.stood) end
  if run.leased then others = enter_vanished(others, run.vanished) end
  if not entry then -- close_run counts the run that is open
    note('HSET', job, 'open', line)
    note('PEXPIRE', job, WIRE.Remembered) -- before what may be refused
  end
  close_run(line, at, run.how, run.status, run.lost, run.stood)
  if place == 'open' and run.all_known then others = {} end
  local open = ''
  if place == 'open' and not run.leased or others[1] == before then open = table.remove(others, 1) or '' end
  note('HSET', job, 'open', open, 'unconfirmed', table.concat(others, '\n'))
end
