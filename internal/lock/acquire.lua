-- Takes the lock if it is free, begins its ttl anew if this run has it, or waits in line for it: joining the
-- line, looking again and confirming a hand-over are all this step. Stands behind run.lua and line.lua.
-- ARGV   2 record without fence and at, 3 ttl in ms, 4 "wait" or "once"; for wait:
--        5 how many may wait (0: all), 6 ms that the lease goes on that this waiter saw last, 7 the record and
--        8 the fence of that lease, 9 "1" if this waiter was in line less than 12 s ago
-- reply  {1, fence, at, now}   taken now; times are the server's, in ms; with wait for 2 s, to be confirmed
--        {2, fence, at, now}   taken before, by this run
--        {0, pttl, record}     busy; pttl -1: for ever; at most 1 KiB of the record; with wait also
--          place (0: outside the line), connections that listen for this run, 1 if it joined the line now
--        {3, pttl, record}     busy, and as many wait as may
--        {4}                   this run has been given up
--        {-1, n, type}         KEYS[n] is something else
--        {-2}                  the fence is no number below 2^53
-- First write of a run that takes a lock for which nobody waits: the fence, or nothing has been written.

local record, ttl, waits = ARGV[2], ARGV[3], ARGV[4] == 'wait'
local most, hold, saw, number_seen, placed = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8]), ARGV[9] == '1'

-- forgotten: the data are not those that this waiter knew. A counter that went back shows it. Else who was in
-- line a moment ago can tell, unless it was passed over.
local function forgotten()
  if not waits or hold <= 0 or call('ZRANK', line, id) then return false end
  if (tonumber((text(2, 31))) or 0) < number_seen then return true end
  return placed and not string.find(call('HGET', who, '-') or '', id, 1, true)
end

-- kept is for how long the free lock is nobody's, and whose it was, if a waiter saw that it was taken for longer.
local function kept()
  local left, holder
  if first() then left, holder = reserved() end
  if forgotten() and hold > (left or 0) then return hold, saw end
  return left, holder
end

-- take gives the free lock to the first in line, or to this run if nobody is.
local function take()
  local number, fault = next_fence()
  if fault then return fault end
  if first() then
    advance(id)
    local value = text(1, 1023)
    if value ~= '' then return mine(value) and taken(1, value) or nil end
  end
  return taken(1, grant(number, record, waits and unconfirmed or ttl))
end

-- connected counts the waiters that are there, up to most.
local function connected()
  local n = 0
  for _, run in ipairs(call('ZRANGE', line, 0, -1)) do
    if now - split(call('HGET', who, run)) <= silent and tell(run, 'p') > 0 then n = n + 1 end
    if n >= most then break end
  end
  return n
end

-- clear takes the dead out of the front.
local function clear()
  local run = first()
  while run ~= id and now - split(call('HGET', who, run)) > silent do
    drop(run)
    run = first()
  end
  remember()
end

local function join()
  local last = call('ZRANGE', line, -1, -1, 'WITHSCORES')
  call('ZADD', line, (tonumber(last[2]) or 0) + 1, id)
end

-- look announces this waiter and says where it stands.
local function look(left, holder, joined)
  call('PEXPIRE', line, forget)
  call('HSET', who, id, string.format('%.0f %s', now, record))
  if left > 0 then call('HSET', who, '.', string.format('%.0f %s', now + left, holder)) end
  call('PEXPIRE', who, forget)
  clear()
  return {0, left, holder, call('ZRANK', line, id) + 1, tell(id, 'p'), joined}
end

local function wait(left, holder, held)
  if call('ZRANK', line, id) then return look(left, holder, 0) end
  if held and holder ~= saw and forgotten() then return {0, left, holder, 0, tell(id, 'p'), 0} end
  if most > 0 and call('ZCARD', line) >= most and connected() >= most then return {3, left, holder} end
  join()
  return look(left, holder, 1)
end

local held, fault = '', nil
local left, holder = call('PTTL', lock), nil
if left ~= -2 then
  held, fault = text(1, 1023)
  if fault then return fault end
  if mine(held) then return confirm(held, ttl, waits) end
  call('PEXPIRE', gone, 60000) -- a server that refuses writes does not know who holds the lock
end
if call('PTTL', gone) ~= -2 then return {4} end
if left == -2 then
  left, holder = kept()
  local answer = not left and take()
  if answer then return answer end
  if not left then
    left, held = call('PTTL', lock), text(1, 1023)
  end
end
if not waits then return {0, left, holder or held} end
return wait(left, holder or held, not holder)
