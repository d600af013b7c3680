-- How a run begins in the ledger. Stands behind ledger.lua.

local day = 86400000 -- ms

-- vanished is the run that the ledger has open, if it is not this one: nil if there is none.
local function vanished(open)
  if not open or #open >= 4096 or string.sub(open, 1, 26) == id then return end
  return string.match(open, '^%w+ %S+ %S+ %S+ %S+ %S+ %d+ %d+ %d+ %d+$')
end

-- list puts the job among the names: once a day, and whenever the set has lost it. Names of which nothing was heard for
-- long go.
local function list(name, due)
  if not due then
    if note('ZADD', jobs, 'NX', now, name) == 1 then note('PEXPIRE', jobs, ledger_life) end
    return
  end
  note('ZADD', jobs, now, name)
  note('PEXPIRE', jobs, ledger_life) -- before what may be refused
  note('HSET', job, 'listed', math.floor(now / day))
  note('ZREMRANGEBYSCORE', jobs, '-inf', now - ledger_life)
end

-- open_run notes that this run has begun for good; a run that is open and is not this one has died without a word. It
-- returns what somebody who can reach the set of names has still to do: 0 nothing, 1 list the job, 2 list it if the set
-- has lost it.
local function open_run(who, fence, asked, at, name)
  local known = note('HMGET', job, 'open', 'listed')
  if not known then return 0 end
  local open = known[1] or ''
  local before = vanished(open)
  if before then settle(before, 'vanished', '-', '') end
  if string.sub(open, 1, 27) ~= id .. ' ' then
    note('HSET', job, 'open', string.format('%s %s 0 %.0f %.0f %.0f', id, who, fence, asked, at))
    note('PEXPIRE', job, ledger_life)
  end
  local due = tonumber(known[2]) ~= math.floor(now / day)
  if jobs then list(name, due) end
  if jobs or refused then return 0 end
  return due and 1 or 2
end
