-- The ledger: what ran, and how it ended. It is a witness that decides nothing: what is refused, or was written by
-- somebody else, changes no reply. Its entries are those of entry.go. Uses try, now, id, history (how many runs are kept;
-- 0: nothing is touched), and job, runs, bad and jobs, its keys; jobs is nil where no step can reach it.

-- note is a command of the ledger. After the first that is refused none is sent: each refusal is a line in the ACL's log.
local refused = history == 0
local function note(...)
  if refused then return end
  local reply = try(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  refused = true
end

-- enter makes room first: a list that may not be shortened does not grow.
local function enter(list, entry)
  note('LTRIM', list, history > 1 and 0 or 1, math.max(history - 2, 0))
  note('LPUSH', list, entry)
  note('PEXPIRE', list, WIRE.Remembered)
end

local function enter_run(entry, how)
  enter(runs, entry)
  if how ~= 'ok' then enter(bad, entry) end
end

-- ended_run is the entry of a run that has ended, from its open one: what follows from when it began is counted from there.
local function ended_run(open, how, status, more)
  local run, fence, asked, at = string.match(open, '^(.*) (%d+) (%d+) (%d+)$')
  if not run then run, fence, asked, at = string.match(open, '^%S*') .. ' - - 0 - - 0', 0, 0, 0 end
  local waited = tonumber(asked) > 0 and math.max(at - asked, 0) or 0
  return string.format('%s %.0f %.0f %s %.0f %s %s%s', run, fence - at, waited, at, math.max(now - at, 0), how, status, more)
end

-- record_end enters the end of the run that is open, and counts it.
local function record_end(open, how, status, more)
  local entry = ended_run(open, how, status, more)
  note('HSET', job, 'open', '', 'last', entry)
  enter_run(entry, how)
  note('HINCRBY', job, 'count:' .. how, 1)
  return entry
end
