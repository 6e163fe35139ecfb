-- nothing -> waiting, or nothing -> delayed. A job that is missing from the set of its state counts as nothing.
-- KEYS  1 round-robin set (`ring`)  2 delayed  3 clock  4 caps
-- ARGV  1 prefix of the shard's keys, then for each job:
--       id, organization, priority class (0, 1, 2), delay in ms (negative: due since then), cap on the organization's leases ('': none)
-- Reply for each job 1 queued now and can be leased, 2 queued now and delayed or beyond the cap, 0 it was queued already
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local micros = time[1] * 1000000 + time[2]
local hasRoom, isInSet, replies = {}, {}, {}
-- See acquire.lua.
local FORGOTTEN_MS = 600000

-- Stores the cap.
local function limit(org, cap)
  if (redis.call('HGET', KEYS[4], org) or '') ~= cap then
    if cap == '' then redis.call('HDEL', KEYS[4], org) else redis.call('HSET', KEYS[4], org, cap) end
  end
  local leases = prefix .. 'leases:' .. org
  hasRoom[org] = cap == '' or redis.call('ZCOUNT', leases, now - FORGOTTEN_MS, '+inf') < tonumber(cap)
end

-- An organization below its cap is in the round-robin set while any of its jobs waits, and only then: see acquire.lua.
local function offer(org)
  redis.call('ZADD', KEYS[1], 'NX', redis.call('GET', KEYS[3]) or '0', org)
  isInSet[org] = true
end

local function queue(id, org, class, delay)
  local hash = prefix .. 'job:' .. id
  local state, before = unpack(redis.call('HMGET', hash, 'state', 'band'))
  local known = state and prefix .. (state == 'waiting' and 'waiting:' .. before .. ':' .. org or state)
  local score = known and redis.call('ZSCORE', known, id)
  if score and state == 'waiting' then redis.call('ZADD', prefix .. 'waiting:' .. before, score, id) end
  if score then return state == 'waiting', false end

  if state then redis.call('DEL', hash) end
  redis.call('HSET', hash, 'org', org, 'band', class, 'state', delay > 0 and 'delayed' or 'waiting')
  if delay > 0 then
    redis.call('ZADD', KEYS[2], string.format('%.0f', now + delay), id)
    return false, true
  end
  local since = string.format('%.0f', micros + delay * 1000)
  redis.call('ZADD', prefix .. 'waiting:' .. class .. ':' .. org, since, id)
  redis.call('ZADD', prefix .. 'waiting:' .. class, since, id)
  return true, true
end

for at = 2, #ARGV, 5 do
  local org = ARGV[at + 1]
  local waits, isNew = queue(ARGV[at], org, ARGV[at + 2], tonumber(ARGV[at + 3]))
  if hasRoom[org] == nil and (waits or isNew) then limit(org, ARGV[at + 4]) end
  if waits and hasRoom[org] and not isInSet[org] then offer(org) end
  replies[#replies + 1] = not isNew and 0 or waits and hasRoom[org] and 1 or 2
end
return replies
