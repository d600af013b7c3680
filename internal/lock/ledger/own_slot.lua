-- The slot of the run that asks. Stands behind slots.lua.

-- forget_slots lets the slot go that was left alone for longest, if they are too many.
local function forget_slots()
  local n = try('HLEN', slots)
  if type(n) ~= 'number' or n <= WIRE.MostSlots or n > 1000 then return end
  local all, oldest, least = try('HGETALL', slots), nil, math.huge
  for i = 1, #all, 2 do
    local touched = tonumber(string.match(all[i + 1], '^%a+ (%d+) ')) or 0
    if touched < least then oldest, least = all[i], touched end
  end
  if oldest then try('HDEL', slots, oldest) end
end

-- put_slot returns what the server has to say if it refuses.
local function put_slot(name, value)
  local reply = try('HSET', slots, name, value)
  if type(reply) == 'table' then return reply end
  try('PEXPIRE', slots, WIRE.SlotsRemembered)
  forget_slots()
end

-- begin_slot notes that this run, which has the lock, begins. A run that had begun and not ended has vanished.
local function begin_slot(name, host)
  local _, closed, begun, failed = slot_state(name)
  if closed or string.sub(begun, 1, WIRE.RunIDLen) == id then return end
  return put_slot(name, open_slot(id .. '/' .. host, and_vanished(failed, begun)))
end

-- end_slot notes how this run has ended; how '' is one in which nothing was run.
local function end_slot(name, host, how, status, lost)
  local _, closed, begun, failed = slot_state(name)
  local mine = string.sub(begun, 1, WIRE.RunIDLen) == id
  if closed or how == '' and not mine then return end
  local try_of = tried(id .. '/' .. host, how, status, lost == '1' and '/lost' or '')
  if how == 'ok' then return put_slot(name, string.format('closed %.0f%s', now, try_of)) end
  if how ~= '' then failed = and_failed(failed, try_of) end
  return put_slot(name, open_slot(mine and '-' or begun, failed))
end
