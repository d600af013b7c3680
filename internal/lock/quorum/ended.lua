-- Pauses that a majority has ended, and of which some master has not heard. Stands behind prelude.lua and pauses.lua.

-- lift ends the pause of this master, if it is among those in ended: a majority has ended it while this master was away.
-- Nobody else's pause has its id, and it can never be wanted again.
local function lift(ended)
  if ended == '' then return end
  for _, key in ipairs({paused, lock}) do
    local value = try('GETRANGE', key, 0, WIRE.RecordEnd)
    local wish = type(value) == 'string' and is_wish(value) and string.match(value, '^{"pause":"(%w+)"')
    if wish and string.find(ended, wish, 1, true) then call('DEL', key) end
  end
end

-- ends are the pauses that a majority has ended without some master, as note.lua writes them; of what is something else
-- nothing is known.
local function ends()
  local value = try('GETRANGE', resumed, 0, WIRE.RecordEnd)
  return type(value) == 'string' and value or ''
end
