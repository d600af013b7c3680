-- A pause is a holder like any: where it is wanted, it takes the lock as soon as that is free.

-- is_pause: a value of the lock is that of a pause.
local function is_pause(value) return string.sub(value, 1, 10) == '{"pause":"' end

-- is_wish: a value of paused is a pause as redlockrun writes it, which may be put into the lock.
local function is_wish(value)
  return string.find(value, '^{"pause":"' .. string.rep('%w', WIRE.RunIDLen) .. '","v":%d+,.*}$') ~= nil
end

-- activate_pause puts the pause that is wanted into the free lock, and returns it and how long it goes on, as PTTL says
-- it. It returns nil if none is wanted; then the reply that paused is something else, which never gets into the lock.
local function activate_pause()
  local wanted, fault = text(4)
  if fault or wanted == '' then return nil, nil, fault end
  if not is_wish(wanted) then return nil, nil, {-1, 4, 'string'} end
  local left = call('PTTL', paused)
  prove_writes()
  set_lock(wanted, left)
  return wanted, left
end
