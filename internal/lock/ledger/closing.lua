-- How a run ends in the ledger. Stands behind ledger.lua.

-- record_good is record_end of a success: the mean is that of about the last twenty.
local function record_good(open, at, status, more, mean)
  local entry = record_end(open, 'ok', status, more)
  local n, ms = string.match(mean or '', '^(%d+) (%d+)$')
  n = math.min(tonumber(n) or 0, 19)
  ms = ((tonumber(ms) or 0) * n + math.max(now - at, 0)) / (n + 1)
  note('HSET', job, 'good', entry, 'mean', string.format('%d %.0f', n + 1, ms))
end

-- close_run enters how this run has ended: how '' is one in which nothing was run. Of a run that is open no more, the
-- report comes late: it adds an entry, and moves no count. stood is for how many ms the command stood still; nil: never.
local function close_run(words, at, how, status, lost, stood)
  local known = note('HMGET', job, 'open', 'mean')
  if not known then return end
  local more = lost == '1' and ' lost=1' or ''
  if stood then more = more .. ' stood=' .. stood end
  if string.match(known[1] or '', '^%S+') == id then
    if how == 'ok' then record_good(words, at, status, more, known[2])
    elseif how ~= '' then record_end(words, how, status, more)
    else note('HSET', job, 'open', '') end
    note('PEXPIRE', job, WIRE.Remembered)
  elseif how ~= '' then
    local newest = note('LINDEX', runs, 0) or ''
    local repeated = string.match(newest, '^%S+') == id and string.find(newest, ' ' .. how .. ' ' .. status, 1, true)
    if not repeated then enter_run(ended_run(words, how, status, more), how) end
  end
end
