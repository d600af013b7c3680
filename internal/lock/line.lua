-- The waiting line: what acquire and release share. It stands before either of them.
-- KEYS   1 lock, 2 fence, 3 line (run id -> ticket), 4 who (run id -> "last seen" and record), 5 tombstone of this run
-- ARGV   1 run id
-- who has two more fields: "." = when the lease ends that was seen last, and its record: until then a lock
-- that is free without having been released is nobody's; "-" = the runs that were passed over or given the lock last, but for those that confirmed it.
-- All times are the server's, in ms.

local lock, fence, line, who, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local unconfirmed = 2000 -- a hand-over that its run has not confirmed ends
local silent = 12000     -- a waiter that has not looked for so long is dead
local forget = 15000     -- line and who expire
local slack = 5          -- two readings of the clock in one script may differ

-- text is the start of a string; or nil and a reply if the key is something else.
local function text(n, last)
  local v = redis.pcall('GETRANGE', KEYS[n], 0, last)
  if type(v) == 'string' then return v end
  if not string.find(v.err, 'WRONGTYPE', 1, true) then return nil, v end
  local t = redis.pcall('TYPE', KEYS[n])
  return nil, {-1, n, t.ok or ''}
end

-- mine: the record is this run's; an ended run has no lock, only the rest of its min-hold.
local function mine(record)
  return record and string.sub(record, 1, 36) == '{"run":"' .. id .. '",' and string.sub(record, 37, 43) ~= '"ended"'
end

local function first() return redis.call('ZRANGE', line, 0, 0)[1] end
local function tell(run, message) return redis.call('PUBLISH', lock .. ':' .. run, message) end

local function split(entry)
  local ms, rest = string.match(entry or '', '^(%d+) (.*)$')
  return tonumber(ms) or 0, rest
end

-- reserved is for how long a free lock is nobody's, and whose it was.
local function reserved()
  local till, record = split(redis.call('HGET', who, '.'))
  if till > now + slack then return till - now, record end
end

-- announce tells the first n in line that the lease of record ends in ms.
local function announce(n, ms, record)
  local front = redis.call('ZRANGE', line, 0, n - 1)
  if #front == 0 then return redis.call('HDEL', who, '.') end
  redis.call('HSET', who, '.', string.format('%.0f %s', now + ms, record))
  for place, run in ipairs(front) do tell(run, string.format('n %d %d', ms, place)) end
end

-- drop takes a run out of line, and remembers it: such a run can tell that from a loss of the data.
local dropped = {}
local function drop(run)
  redis.call('ZREM', line, run)
  redis.call('HDEL', who, run)
  dropped[#dropped + 1] = run
end
local function remember()
  if #dropped == 0 then return end
  local all = (redis.call('HGET', who, '-') or '') .. table.concat(dropped)
  redis.call('HSET', who, '-', string.sub(all, -26 * 1024))
  redis.call('PEXPIRE', who, forget)
  dropped = {}
end

-- leave takes this run out of line and out of memory.
local function leave()
  redis.call('ZREM', line, id)
  local all = redis.call('HGET', who, '-')
  local others = all and string.gsub(all, id, '')
  if others == '' then redis.call('HDEL', who, '-') elseif others then redis.call('HSET', who, '-', others) end
  redis.call('HDEL', who, id)
  if not first() then redis.call('HDEL', who, '.') end
end

-- next_fence is the next fence, or nil and a reply if the counter is none.
local function next_fence()
  local counter, fault = text(2, 31)
  if fault then return nil, fault end
  if counter == '' and redis.call('PTTL', fence) == -2 then counter = '0' end
  local number = string.match(counter, '^%d+$') and math.max(tonumber(counter) + 1, now) or 2 ^ 53
  if number >= 2 ^ 53 then return nil, {-2} end
  return number
end

local function grant(number, record, ms)
  local granted = string.sub(record, 1, -2) .. string.format(',"fence":%.0f,"at":%.0f}', number, now)
  redis.call('SET', fence, string.format('%.0f', number))
  redis.call('SET', lock, granted, 'PX', ms)
  return granted
end

-- advance gives the free lock to the first in line that answers; caller does so by being here. Its first
-- write is a ZREM, which Redis does not refuse when it is out of memory; after it, it does not refuse SET either.
local function advance(caller)
  local run = first()
  local number = run and next_fence()
  while number and run do
    local seen, record = split(redis.call('HGET', who, run))
    drop(run)
    if record and (run == caller or now - seen <= silent and tell(run, 'g') > 0) then
      announce(1, unconfirmed, grant(number, record, unconfirmed))
      return remember()
    end
    run = first()
  end
  redis.call('HDEL', who, '.')
  if run then tell(run, 'g') end -- so that it finds what is wrong with the fence
  remember()
end
