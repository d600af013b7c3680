-- The waiting line: what acquire and release share beside run.lua. All times are the server's, in ms.

local unconfirmed = 2000 -- a hand-over that its run has not confirmed ends
local silent = 12000     -- a waiter that has not looked for so long is dead
local forget = 15000     -- line and who expire
local slack = 5          -- two readings of the clock in one script may differ

local function tell(run, message) return call('PUBLISH', lock .. ':' .. run, message) end

local function split(entry)
  local ms, rest = string.match(entry or '', '^(%d+) (.*)$')
  return tonumber(ms) or 0, rest
end

-- reserved is for how long a free lock is nobody's, and whose it was.
local function reserved()
  local till, record = split(call('HGET', who, '.'))
  if till > now + slack then return till - now, record end
end

-- announce tells the first n in line that the lease of record ends in ms.
local function announce(n, ms, record)
  local front = call('ZRANGE', line, 0, n - 1)
  if #front == 0 then return call('HDEL', who, '.') end
  call('HSET', who, '.', string.format('%.0f %s', now + ms, record))
  for place, run in ipairs(front) do tell(run, string.format('n %d %d', ms, place)) end
end

-- drop takes a run out of line, and remembers it: such a run can tell that from a loss of the data.
local dropped = {}
local function drop(run)
  call('ZREM', line, run)
  call('HDEL', who, run)
  dropped[#dropped + 1] = run
end
local function remember()
  if #dropped == 0 then return end
  local all = (call('HGET', who, '-') or '') .. table.concat(dropped)
  call('HSET', who, '-', string.sub(all, -26 * 1024))
  call('PEXPIRE', who, forget)
  dropped = {}
end

-- next_fence is the next fence, or nil and a reply if the counter is none.
local function next_fence()
  local counter, fault = text(2, 31)
  if fault then return nil, fault end
  if counter == '' and call('PTTL', fence) == -2 then counter = '0' end
  local number = string.match(counter, '^%d+$') and math.max(tonumber(counter) + 1, now) or 2 ^ 53
  if number >= 2 ^ 53 then return nil, {-2} end
  return number
end

local function grant(number, record, ms)
  local granted = string.sub(record, 1, -2) .. string.format(',"fence":%.0f,"at":%.0f}', number, now)
  call('SET', fence, string.format('%.0f', number))
  call('SET', lock, granted, 'PX', ms)
  return granted
end

-- advance gives the free lock to the first in line that answers; caller does so by being here. Its first
-- write is a ZREM, which Redis does not refuse when it is out of memory; after it, it does not refuse SET either.
local function advance(caller)
  local run = first()
  local number = run and next_fence()
  while number and run do
    local seen, record = split(call('HGET', who, run))
    drop(run)
    if record and (run == caller or now - seen <= silent and tell(run, 'g') > 0) then
      announce(1, unconfirmed, grant(number, record, unconfirmed))
      return remember()
    end
    run = first()
  end
  call('HDEL', who, '.')
  if run then tell(run, 'g') end -- so that it finds what is wrong with the fence
  remember()
end
