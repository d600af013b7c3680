-- The record of a lock, as text: some servers have no cjson. Its head is the run, in a quorum with the term behind it;
-- behind the head stand the marks, the latest first:
--   {"run":"<run id>","vote":"<round>.<repair>.<master>","ended":<ms>,"stop":"<id of the change>","v":...

local function run_of(record) return string.match(record, '^{"run":"(%w+)",') or '' end

-- term_of is <round>.<repair>, whose numbers have a fixed width; '' if the record has no term.
local function term_of(record) return string.match(record, '^{"run":"%w+","vote":"(%x+%.%x+)%.%d+",') or '' end

-- split returns the head and the suffix; the head of what is no record is empty.
local function split(record)
  local head, suffix = string.match(record, '^({"run":"%w+",)(.*)$')
  if not head then return '', record end
  local vote = string.match(suffix, '^"vote":"[%x.]+",') or ''
  return head .. vote, string.sub(suffix, #vote + 1)
end

-- mark_of is the name of what stands behind the head: 'ended' and 'stop' are the marks.
local function mark_of(record)
  local _, suffix = split(record)
  return string.match(suffix, '^"(%w+)":') or ''
end

local function with_mark(record, mark)
  local head, suffix = split(record)
  return head .. mark .. suffix
end
