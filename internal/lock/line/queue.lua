-- The queue of waiters: what acquire and release share. Stands behind prelude.lua, pauses.lua and slots.lua.

-- publish sends a message to a run, and returns how many have got it; -1: there are no messages here.
local function publish(run, message)
  local n = try('PUBLISH', lock .. ':' .. run, message)
  return type(n) == 'number' and n or -1
end

-- tell is publish that counts the run alone: who listens to everything (PSUBSCRIBE) hears what goes to nobody, too.
local strays
local function tell(run, message)
  local n = publish(run, message)
  if n <= 0 then return n end
  strays = strays or math.max(publish('', 'p'), 0)
  return math.max(n - strays, 0)
end

-- waiter is what is known of a run in the queue.
local function waiter(run)
  local ms, callable, slot, tries, record = string.match(call('HGET', waiters, run) or '', '^(%d+) ([01]) (%S+) (%d+) (.*)$')
  return tonumber(ms) or 0, callable == '1', record, slot, tries
end

local function first() return call('ZRANGE', queue, 0, 0)[1] end

-- unfit is the reply that queue or waiters is something else. waiters is not looked at where nobody waits: few rights suffice then.
local function unfit(waits)
  local front = try('ZRANGE', queue, 0, 0)
  local fault = front.err and wrong(10, front)
  if fault then return fault end
  if not waits and not first() then return end
  local entry = try('HGET', waiters, id)
  return type(entry) == 'table' and (wrong(11, entry) or call('HGET', waiters, id)) or nil
end

-- gap finds out since when those in the queue can look again: if nobody has for long, nobody could. One gap excuses them
-- once: somebody must have looked after it before the next is believed.
local latest, since
local function gap()
  local a, b = string.match(call('HGET', waiters, 'looks') or '', '^(%d+) (%d+)$')
  latest, since = tonumber(a) or now, tonumber(b) or 0
  if now - latest > WIRE.Silent and since <= latest then since = now end
end
local function remember_looks()
  call('HSET', waiters, 'looks', string.format('%.0f %.0f', latest, since))
  call('PEXPIRE', waiters, WIRE.WaitersRemembered)
end

-- note_look notes that somebody in the queue looks: a gap is over.
local function note_look()
  gap()
  latest = now
  remember_looks()
end

-- announce tells the first in the queue that the lease that they wait for ends in ms, or as soon as a hand-over to the
-- run of record can: once it is confirmed, that run's ttl begins.
local function announce(ms, record)
  ms = math.min(ms, tonumber(string.match(record or '', '"ttl":(%d+)')) or ms)
  for place, run in ipairs(call('ZRANGE', queue, 0, 2)) do publish(run, string.format('n %d %d', ms, place)) end
end

-- drop takes a run out of the queue.
local function drop(run)
  call('ZREM', queue, run)
  call('HDEL', waiters, run)
  if not first() then call('DEL', waiters) end
end

-- leave takes a run out of the queue that goes as it came: who moves up to the front is told when the lease ends.
local function leave(run)
  local place, left = call('ZRANK', queue, run), call('PTTL', lock)
  drop(run)
  if place and place < 3 and left > 0 then announce(left, text(1)) end
end

local function grant(number, record, ms)
  local granted = string.sub(record, 1, -2) .. string.format(',"fence":%.0f,"at":%.0f}', number, now)
  set_fence(number)
  call('SET', lock, granted, 'PX', ms)
  return granted
end

-- kept tells a run that the lock is its, and returns for how long it is kept for it; nil: it is not there.
local function kept(run, seen, callable, excused)
  if now - math.max(seen, since) > WIRE.Silent then return end
  local n = tell(run, 'g')
  if n > 0 or not callable or excused then return WIRE.Unconfirmed end
  if n < 0 then return WIRE.Untold end
end

-- rouse has the first in the queue that hears it look, so that it finds what is wrong with a key, and leaves.
local function rouse()
  for _, run in ipairs(call('ZRANGE', queue, 0, 99)) do
    if tell(run, 'g') ~= 0 then return end -- where there are no messages they look by themselves
  end
end

-- pause_lock puts the pause that is wanted into the free lock, and tells those in the queue when it ends. It returns true, or
-- the reply that paused is something else.
local function pause_lock()
  local pause, left, fault = activate_pause()
  if pause and left ~= -1 then announce(left) end
  return pause and true or fault
end

-- finished_message is the message that ends a waiter whose slot is finished; nil if the slot is not.
local judged = {}
local function finished_message(slot, tries)
  if not slot or slot == '-' then return end
  local key = slot .. ' ' .. tries
  if judged[key] == nil then
    local name = string.gsub(slot, '%%(%x%x)', function(hex) return string.char(tonumber(hex, 16)) end)
    local code, value = slot_finished(name, tries, '')
    judged[key] = code and (code == 6 and 'd ' or 't ') .. value or false
  end
  return judged[key]
end

-- dismiss_front takes those out of the front of the queue who are dismissed, and tells them. It reports whether there
-- can be more: then the next step goes on, that no step takes long.
local most_dismissed = 250 -- 2 to 5 ms
local function dismiss_front()
  local front = call('ZRANGE', queue, 0, most_dismissed - 1)
  local entries, out, messages = call('HMGET', waiters, unpack(front)), {}, {}
  for i, run in ipairs(front) do
    local message = finished_message(string.match(entries[i] or '', '^%d+ [01] (%S+) (%d+) '))
    if not message then break end
    out[i], messages[i] = run, message
  end
  call('ZREM', queue, unpack(out))
  call('HDEL', waiters, unpack(out))
  if not first() then call('DEL', waiters) end
  for i, run in ipairs(out) do publish(run, messages[i]) end
  return #out == most_dismissed
end

-- advance gives the free lock to the first in the queue that is there, as caller is. Who is not leaves the queue; but
-- when the first comes back from a gap, be it the caller, the others are given a moment to do so. Its first write is
-- a ZREM, which Redis does not refuse when it is out of memory; after it, it does not refuse SET either.
local function advance(caller, wholly)
  local paused_now = pause_lock()
  if paused_now then return paused_now ~= true and rouse() or nil end
  gap()
  local back = since > 0 and now - since <= WIRE.Unconfirmed
  local excused = back and (latest >= since or caller and call('ZRANK', queue, caller))
  local number, run = next_fence(now), first()
  if not number then return rouse() end
  while run do
    local seen, callable, record, slot, tries = waiter(run)
    local ms
    if run ~= caller and finished_message(slot, tries) then
      if dismiss_front() and first() and not wholly then return rouse() end
    else
      drop(run)
      ms = record and (run == caller and WIRE.Unconfirmed or kept(run, seen, callable, excused))
      if ms then
        if run == caller then latest = now end -- it has looked
        grant(number, record, ms)
        announce(ms, record)
      end
    end
    run = not ms and first()
  end
  if first() then remember_looks() end
end
