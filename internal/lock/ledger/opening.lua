-- How a run begins in the ledger. Stands behind ledger.lua.

local day = 86400000 -- ms

-- vanished is the run that the ledger has open, if it is not this one: nil if there is none.
local function vanished(open)
  if not open or #open >= WIRE.MaxEntry or string.match(open, '^%w+') == id then return end
  return string.match(open, '^%w+ %S+ %S+ %S+ %S+ %S+ %d+ %d+ %d+ %d+$')
end

-- list puts the job among the names: once a day, and whenever the set has lost it. Names of which nothing was heard for
-- long go.
local function list(name, due)
  if not due then
    if note('ZADD', jobs, 'NX', now, name) == 1 then note('PEXPIRE', jobs, WIRE.Remembered) end
    return
  end
  note('ZADD', jobs, now, name)
  note('PEXPIRE', jobs, WIRE.Remembered) -- before what may be refused
  note('HSET', job, 'listed', math.floor(now / day))
  note('ZREMRANGEBYSCORE', jobs, '-inf', now - WIRE.Remembered)
end

-- limit_fields are fields of the job: how old the last success may become, if this run says so, with the fence by which it
-- says so; and since when a success is expected, if none was. before is the limit before.
local function limit_fields(before, number, since)
  local limit = string.format('%s %.0f', max_age, number)
  if max_age == '0' or string.find(before or '', '^[1-9]') then return 'max_age', limit end
  return 'max_age', limit, 'max_age_since', string.format('%.0f', since)
end

-- open_run notes that this run has begun for good; one that is open and is not this one has vanished. It
-- returns what a client that can reach the set of names has still to do: 0 nothing, 1 list the job, 2 list it if the set
-- has lost it.
local function open_run(run, fence, asked, at, name)
  local known = note('HMGET', job, 'open', 'listed', 'max_age')
  if not known then return 0 end
  local open = known[1] or ''
  local before = vanished(open)
  if before then record_end(before, 'vanished', '-', '') end
  if string.match(open, '^%S+') ~= id then
    local entry = string.format('%s %s 0 %.0f %.0f %.0f', id, run, fence, asked, at)
    if max_age == '' then note('HSET', job, 'open', entry)
    else note('HSET', job, 'open', entry, limit_fields(known[3], fence, at)) end
    note('PEXPIRE', job, WIRE.Remembered)
  end
  local due = tonumber(known[2]) ~= math.floor(now / day)
  if jobs then list(name, due) end
  if jobs or refused then return 0 end
  return due and 1 or 2
end
