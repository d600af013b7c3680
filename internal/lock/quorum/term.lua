-- What the steps of a quorum's masters share. The value of a lock is a record that begins with
-- {"run":"<run id>","vote":"<round>.<heal>.<master>", where the numbers have a fixed width.
-- KEYS   1 lock, 2 fence, 3 tombstone of this run: the last term that has been given up
-- ARGV   1 {"run":"<run id>",   2 <round>.<heal>   3 <master>

-- standing says whose the lock is: 'nobody', 'another', 'older', 'same' or 'newer' than the
-- term in ARGV; then the value up to its 1 KiB.
local function standing()
  local held = redis.pcall('GETRANGE', KEYS[1], 0, 1023)
  if type(held) ~= 'string' then
    if not string.find(held.err, 'WRONGTYPE', 1, true) then redis.call('GETRANGE', KEYS[1], 0, 0) end -- named, it ends the step
    local t = redis.pcall('TYPE', KEYS[1])
    return nil, {-1, 1, t.ok or ''}
  end
  if held == '' and redis.call('PTTL', KEYS[1]) == -2 then return 'nobody', held end
  if string.sub(held, 1, 36) ~= ARGV[1] or string.sub(held, 37, 44) ~= '"vote":"' then return 'another', held end
  local term = string.sub(held, 45, 61)
  if term == ARGV[2] then return 'same', held end
  return term < ARGV[2] and 'older' or 'newer', held
end

-- revoked reports whether the term in ARGV has been given up, and whether no term of this run has been.
local function revoked()
  local last = redis.pcall('GETRANGE', KEYS[3], 0, 16)
  return type(last) == 'string' and last >= ARGV[2], last == ''
end

-- counter is the fence as a number, or nil and a reply that says what is wrong with it: it is none, or has a floor
-- above this protocol (that of the record: record.go) behind it.
local protocol = 1
local function counter()
  local text = redis.pcall('GETRANGE', KEYS[2], 0, 32)
  if type(text) ~= 'string' then
    if not string.find(text.err, 'WRONGTYPE', 1, true) then return nil, text end
    local t = redis.pcall('TYPE', KEYS[2])
    return nil, {-1, 2, t.ok or ''}
  end
  if text == '' and redis.call('PTTL', KEYS[2]) == -2 then return 0 end
  if string.match(text, '^%d+$') then text = text .. ' p0' end
  local n, floor = string.match(text, '^(%d+) p(%d+)$')
  if not n or #text > 32 or #floor > 9 then return nil, {-2} end
  if tonumber(floor) > protocol then return nil, {-3, tonumber(floor)} end
  if tonumber(n) >= 2 ^ 53 then return nil, {-2} end
  return tonumber(n)
end

-- setCounter lets the fence live for 90 days: after that the clock carries on.
local function setCounter(n) redis.call('SET', KEYS[2], string.format('%.0f', n), 'PX', 7776000000) end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- stop_of is the mark in a run's record by which an operator wants it to end; '' if there is none.
local function stop_of(held) return string.match(held, '^"stop":"%w+",', 67) or '' end

-- take writes the record of the term in ARGV, of a run that has had the lock for held ms. An older term's mark is kept.
local function take(rest, ttl, held, mark)
  local record = ARGV[1] .. '"vote":"' .. ARGV[2] .. '.' .. ARGV[3] .. '",' .. mark .. string.sub(rest, 1, -2)
  redis.call('SET', KEYS[1], record .. string.format(',"at":%.0f}', clock() - held), 'PX', ttl)
end
