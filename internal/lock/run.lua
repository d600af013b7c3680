-- The run that asks, and its place: what acquire, confirm and release share. It stands before them.
-- KEYS   1 lock, 2 fence, 3 line (run id -> ticket), 4 who (run id -> "last seen" and record), 5 tombstone of this run
-- ARGV   1 run id
-- who has two more fields: "." = when the lease ends that was seen last, and its record: until then a lock
-- that is free without having been released is nobody's; "-" = the runs that were passed over or given the
-- lock last, but for those that confirmed it.

local call, try = redis.call, redis.pcall
local lock, fence, line, who, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id = ARGV[1]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- text is the start of a string; or nil and a reply if the key is something else.
local function text(n, last)
  local v = try('GETRANGE', KEYS[n], 0, last)
  if type(v) == 'string' then return v end
  if not string.find(v.err, 'WRONGTYPE', 1, true) then return nil, v end
  local t = try('TYPE', KEYS[n])
  return nil, {-1, n, t.ok or ''}
end

-- mine: the record is this run's; an ended run has no lock, only the rest of its min-hold.
local function mine(record)
  return record and string.sub(record, 1, 36) == '{"run":"' .. id .. '",' and string.sub(record, 37, 43) ~= '"ended"'
end

local function first() return call('ZRANGE', line, 0, 0)[1] end

-- leave takes this run out of line and out of memory.
local function leave()
  call('ZREM', line, id)
  local all = call('HGET', who, '-')
  local others = all and string.gsub(all, id, '')
  if others == '' then call('HDEL', who, '-') elseif others then call('HSET', who, '-', others) end
  call('HDEL', who, id)
  if not first() then call('HDEL', who, '.') end
end

local function taken(code, value)
  local number, at = string.match(value, '"fence":(%d+),"at":(%d+)}$')
  return {code, tonumber(number), tonumber(at), now}
end

-- confirm begins the ttl of this run's lock.
local function confirm(value, ttl, waited)
  call('PEXPIRE', lock, ttl)
  if waited then leave() end
  return taken(2, value)
end
