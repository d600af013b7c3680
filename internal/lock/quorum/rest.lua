-- A pause is a holder like any: each master puts it into its own free lock. Stands behind run.lua.

-- is_pause: a value of the lock is that of a pause.
local function is_pause(value) return string.sub(value, 1, 10) == '{"pause":"' end

-- is_wish: a value of paused is a pause as redlockrun writes it, which may be put into the lock. Some servers have no cjson.
local function is_wish(value)
  return string.find(value, '^{"pause":"' .. string.rep('%w', 26) .. '","v":%d+,.*}$') ~= nil
end

-- text is the start of a string; or nil and a reply if the key is something else.
local function text(n)
  local v = try('GETRANGE', KEYS[n], 0, 1023)
  if type(v) == 'string' then return v end
  if not string.find(v.err, 'WRONGTYPE', 1, true) then return nil, v end
  local t = try('TYPE', KEYS[n])
  return nil, {-1, n, t.ok or ''}
end

-- rest puts the pause into the free lock, if one is wanted, for what is left of it, and returns its value; nil if none
-- is wanted, then the reply that paused is something else: that is never put into the lock.
local function rest()
  local wanted, fault = text(4)
  if not wanted or wanted == '' then return nil, fault end
  if not is_wish(wanted) then return nil, {-1, 4, 'string'} end
  local left = call('PTTL', paused)
  call('PEXPIRE', gone, 60000) -- after a first write a server that is out of memory does not refuse SET
  if left == -1 then call('SET', lock, wanted) else call('SET', lock, wanted, 'PX', math.max(left, 1)) end -- 0: its last ms
  return wanted
end

-- lift ends the pause of this master, if it is among those in ended: a majority has ended it while this master was away.
-- Nobody else's pause has its id, and it can never be wanted again.
local function lift(ended)
  if ended == '' then return end
  for _, key in ipairs({paused, lock}) do
    local value = try('GETRANGE', key, 0, 1023)
    if type(value) == 'string' and is_wish(value) and string.find(ended, string.sub(value, 11, 36), 1, true) then call('DEL', key) end
  end
end

-- ends are the pauses that a majority has ended without some master, as end.lua writes them; of what is something else
-- nothing is known.
local function ends()
  local value = try('GETRANGE', resumed, 0, 1023)
  return type(value) == 'string' and value or ''
end
