-- The ledger: what ran, and how it ended. It is a witness that decides nothing: what is refused, or was written by
-- somebody else, changes no reply. Its entries are those of entry.go. Uses try, now, id, history (how many runs are kept;
-- 0: nothing is touched), and job, runs, bad and jobs, its keys; jobs is nil where no step can reach it.

local ledger_life, day = 7776000000, 86400000 -- 90 days

-- note is a command of the ledger. After the first that is refused none is sent: each refusal is a line in the ACL's log.
local refused = history == 0
local function note(...)
  if refused then return end
  local reply = try(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  refused = true
end

local function enter(list, entry)
  note('LPUSH', list, entry)
  note('LTRIM', list, 0, history - 1)
  note('PEXPIRE', list, ledger_life)
end

local function enter_run(entry, how)
  enter(runs, entry)
  if how ~= 'ok' then enter(bad, entry) end
end

-- ended_run is the entry of a run that has ended, from its open one: what follows from when it began is counted from there.
local function ended_run(open, how, status, more)
  local who, fence, asked, at = string.match(open, '^(.*) (%d+) (%d+) (%d+)$')
  if not who then who, fence, asked, at = string.match(open, '^%S*') .. ' - - 0 - - 0', 0, 0, 0 end
  local waited = tonumber(asked) > 0 and math.max(at - asked, 0) or 0
  return string.format('%s %.0f %.0f %s %.0f %s %s%s', who, fence - at, waited, at, math.max(now - at, 0), how, status, more)
end

-- settle enters the end of the run that is open, and counts it.
local function settle(open, how, status, more)
  local entry = ended_run(open, how, status, more)
  note('HSET', job, 'open', '', 'last', entry)
  enter_run(entry, how)
  note('HINCRBY', job, 'count:' .. how, 1)
  return entry
end

-- settle_good is settle of a success: the mean is that of about the last twenty.
local function settle_good(open, at, status, more, mean)
  local entry = settle(open, 'ok', status, more)
  local n, ms = string.match(mean or '', '^(%d+) (%d+)$')
  n = math.min(tonumber(n) or 0, 19)
  ms = ((tonumber(ms) or 0) * n + math.max(now - at, 0)) / (n + 1)
  note('HSET', job, 'good', entry, 'mean', string.format('%d %.0f', n + 1, ms))
end

-- vanished is the run that the ledger has open, if it is not this one: nil if there is none.
local function vanished(open)
  if not open or #open >= 4096 or string.sub(open, 1, 26) == id then return end
  return string.match(open, '^%w+ %S+ %S+ %S+ %S+ %S+ %d+ %d+ %d+ %d+$')
end

-- list puts the job among the names, once a day. Names of which nothing was heard for long go.
local function list(name)
  note('ZADD', jobs, now, name)
  note('HSET', job, 'listed', math.floor(now / day))
  note('ZREMRANGEBYSCORE', jobs, '-inf', now - ledger_life)
  note('PEXPIRE', jobs, ledger_life)
end

-- open_run notes that this run has begun for good; a run that is open and is not this one has died without a word. It
-- reports whether the job is still to be listed by somebody who can reach the set of names.
local function open_run(who, fence, asked, at, name)
  local known = note('HMGET', job, 'open', 'listed')
  if not known then return false end
  local open = known[1] or ''
  local before = vanished(open)
  if before then settle(before, 'vanished', '-', '') end
  if string.sub(open, 1, 27) ~= id .. ' ' then
    note('HSET', job, 'open', string.format('%s %s 0 %.0f %.0f %.0f', id, who, fence, asked, at))
    note('PEXPIRE', job, ledger_life)
  end
  local due = tonumber(known[2]) ~= math.floor(now / day)
  if due and jobs then list(name) end
  return due and not jobs and not refused
end

-- close_run enters how this run has ended: how '' is one in which nothing was run. Of a run that is open no more, the
-- report comes late: it adds an entry, and moves no count.
local function close_run(words, at, how, status, lost)
  local known = note('HMGET', job, 'open', 'mean')
  if not known then return end
  local more = lost == '1' and ' lost=1' or ''
  if string.sub(known[1] or '', 1, 27) == id .. ' ' then
    if how == 'ok' then settle_good(words, at, status, more, known[2])
    elseif how ~= '' then settle(words, how, status, more)
    else note('HSET', job, 'open', '') end
    note('PEXPIRE', job, ledger_life)
  elseif how ~= '' then
    local newest = note('LINDEX', runs, 0) or ''
    local repeated = string.sub(newest, 1, 27) == id .. ' ' and string.find(newest, ' ' .. how .. ' ' .. status, 1, true)
    if not repeated then enter_run(ended_run(words, how, status, more), how) end
  end
end
