-- Reads what the runs of some jobs printed last, and writes nothing. After the first command that is refused none is
-- called any more: each refusal is a line in the server's log of refusals.
-- KEYS   of each job: output
-- ARGV   1 how many bytes of each output are wanted, the last ones
-- reply  outputsReply in reply.go

local most, refused = tonumber(ARGV[1]), nil

-- shortened is an entry with at most so many of its bytes. An entry that is larger than any of ours becomes empty.
local function shortened(entry)
  if #entry > WIRE.MaxOutputEntry then return '' end
  local head = string.find(entry, '\n', 1, true)
  if not head or #entry - head <= most then return entry end
  return string.sub(entry, 1, head) .. string.sub(entry, #entry - most + 1)
end

local function outputs(key)
  if refused then return refused end
  local said = redis.pcall('LRANGE', key, 0, WIRE.MostOutputs - 1)
  if said.err then
    if string.find(said.err, 'WRONGTYPE', 1, true) then return {0} end
    refused = {-1, string.sub(said.err, 1, 300)}
    return refused
  end
  local part = {1}
  for i, entry in ipairs(said) do part[1 + i] = shortened(entry) end
  return part
end

local reply = {1}
for i, key in ipairs(KEYS) do reply[1 + i] = outputs(key) end
return reply
