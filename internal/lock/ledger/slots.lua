-- The slots: what was done and tried in each of them. They are part of the lock: a server that refuses to write them
-- refuses the lock of a run that has one. Uses call, try, now, id and slots, the key. The format is that of slot.go.

-- slot_state reads a slot: its value, whether it is closed, the run that has begun in it ('-': none), and the tries that
-- failed, a blank before each. Of a key that is something else nothing is known.
local function slot_state(name)
  local value = try('HGET', slots, name)
  if type(value) ~= 'string' then value = '' end
  if string.find(value, '^closed %d+ %S') then return value, true, '-', '' end
  local begun, failed = string.match(value, '^open %d+ (%S+)(.*)$')
  return value, false, begun or '-', failed or ''
end

-- slot_refused is what the server has to say if it does not show the slots of a run that has one, or if they are something
-- else.
local function slot_refused()
  local v = slot ~= '' and try('HGET', slots, slot)
  return type(v) == 'table' and v or nil
end

-- unfit_slots is the reply that slots is something else; nil for a run without a slot. What is refused ends the step.
local function unfit_slots()
  local fault = slot_refused()
  if fault then return wrong(6, fault) or call('HGET', slots, slot) end
  if slot ~= '' then call('HLEN', slots) end -- a run that may not count slots would let none go
end

local function tried(run_host, how, status, more) return string.format(' %s/%s/%s/%.0f%s', run_host, how, status, now, more or '') end

-- and_failed are the failed tries with one more, if its run is not among them: an id counts once.
local function and_failed(failed, try_of)
  if string.find(failed, string.sub(try_of, 1, 2 + WIRE.RunIDLen), 1, true) then return failed end
  return failed .. try_of
end

local function and_vanished(failed, begun)
  return begun == '-' and failed or and_failed(failed, tried(begun, 'vanished', '-'))
end

local function open_slot(begun, failed) return string.format('open %.0f %s%s', now, begun, failed) end

-- slot_finished is nil, or the code of the reply and the slot's value if no run may be for it: 6 its work is done, 7 its
-- tries are used up. A run that has begun in it and is not the holder has vanished.
local function slot_finished(name, tries, holder)
  local value, closed, begun, failed = slot_state(name)
  if closed then return 6, value end
  if string.sub(begun, 1, WIRE.RunIDLen) ~= holder then
    failed = and_vanished(failed, begun)
    value = open_slot('-', failed)
  end
  local _, n = string.gsub(failed, ' ', '')
  if n >= tonumber(tries) then return 7, value end
end
