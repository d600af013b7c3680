-- What the steps of a run at one master of a quorum share. Stands behind prelude.lua. The tombstone has the last term that
-- has been given up.
-- ARGV   8 term: <round>.<repair>, 9 number of the master

local term = ARGV[8]

-- ownership says whose the lock is, as wire.Ownership does; then the value up to its 1 KiB. It is nil and a reply if the
-- lock is something else.
local function ownership()
  local held, fault = text(1)
  if fault then return nil, fault end
  if held == '' and call('PTTL', lock) == -2 then return WIRE.Free, held end
  local other = term_of(held)
  if not mine(held) or other == '' then return WIRE.Others, held end
  if other == term then return WIRE.Own, held end
  return other < term and WIRE.OwnOlder or WIRE.OwnNewer, held
end

-- revoked reports whether the term that asks has been given up, and whether no term of this run has been.
local function revoked()
  local last = try('GETRANGE', tombstone, 0, 16)
  return type(last) == 'string' and last >= term, last == ''
end

-- take writes the record of the term that asks, of a run that has had the lock for held ms. The stop of an operator in an
-- older term's record is kept.
local function take(record, ttl, held, older)
  local _, marks = split(older or '')
  local stop = string.match(marks, '^"stop":"%w+",') or ''
  local vote = string.format('"vote":"%s.%s",', term, ARGV[9])
  record = string.sub(with_mark(record, vote .. stop), 1, -2)
  set_lock(record .. string.format(',"at":%.0f}', now - held), tonumber(ttl))
end
