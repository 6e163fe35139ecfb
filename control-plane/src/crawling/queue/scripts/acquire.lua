-- waiting -> leased: the oldest job of the organization whose turn it is.
-- KEYS  1 round-robin set (`ring`)  2 leased  3 fence  4 caps  5 adopted
-- ARGV  1 prefix of the shard's keys  2 node  3 lease in ms  4 maximum number of jobs  5 maximum number of leases of the node
-- Reply { job id, fence, organization, job id, ... }, empty when nothing can be leased
local prefix, node, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = string.format('%.0f', now + lease)
local own = prefix .. 'node:' .. node
-- Expired leases do not count, whether or not they have been reaped.
local held = redis.call('ZCOUNT', own, string.format('(%.0f', now), '+inf')
local most = math.min(tonumber(ARGV[4]), tonumber(ARGV[5]) - held)
-- The time makes it grow even after Redis has lost its data. '%.0f', because Lua formats large numbers with an exponent.
local fence = math.max(tonumber(redis.call('GET', KEYS[3]) or '0'), time[1] * 1000000 + time[2] - 1)
local given, unsure, isAdopted = {}, {}, nil
-- A lease counts against the cap until it is ended or reaped. One whose other keys were lost can be neither: it counts for this long.
local FORGOTTEN_MS = 600000

-- Of seven turns of an organization, four start with priority class 0, two with class 1 and one with class 2: no class starves.
local TURNS = { 0, 0, 1, 0, 0, 1, 2 }
local function take(org)
  local turn = redis.call('INCR', prefix .. 'turns:' .. org)
  for _, class in ipairs({ TURNS[(turn - 1) % #TURNS + 1], 0, 1, 2 }) do
    local waiting = prefix .. 'waiting:' .. class
    local id = redis.call('ZPOPMIN', waiting .. ':' .. org)[1]
    if id then
      redis.call('ZREM', waiting, id)
      return id
    end
  end
end

local function give(id, org)
  local hash = prefix .. 'job:' .. id
  if redis.call('HGET', hash, 'state') ~= 'waiting' then return end
  fence = fence + 1
  local text = string.format('%.0f', fence)
  redis.call('HSET', hash, 'state', 'leased', 'fence', text, 'node', node)
  redis.call('ZADD', KEYS[2], deadline, id)
  redis.call('ZADD', own, deadline, id)
  redis.call('ZADD', prefix .. 'leases:' .. org, deadline, id)
  given[#given + 1] = id
  given[#given + 1] = text
  given[#given + 1] = org
end

local function mayLease(org)
  local cap = redis.call('HGET', KEYS[4], org)
  if not cap then return true end
  if isAdopted == nil then isAdopted = redis.call('EXISTS', KEYS[5]) == 1 end
  if not isAdopted then unsure[#unsure + 1] = org end
  -- An organization at its cap leaves the round-robin set; the end of one of its leases adds it again.
  return isAdopted and redis.call('ZCOUNT', prefix .. 'leases:' .. org, now - FORGOTTEN_MS, '+inf') < tonumber(cap)
end

-- An id whose job does not exist also uses a turn; the loop is bounded in case there are many.
for _ = 1, most > 0 and most + 500 or 0 do
  local org = #given < most * 3 and redis.call('ZPOPMIN', KEYS[1])[1]
  if not org then break end
  if mayLease(org) then
    local id = take(org)
    -- The set lists an organization without jobs: Redis has lost data, and the refill must rebuild the index.
    if id then give(id, org) else redis.call('DEL', KEYS[5]) end
    local waiting = prefix .. 'waiting:'
    if redis.call('EXISTS', waiting .. '0:' .. org, waiting .. '1:' .. org, waiting .. '2:' .. org) > 0 then
      redis.call('ZADD', KEYS[1], string.format('%.0f', fence), org)
    else
      redis.call('DEL', prefix .. 'turns:' .. org)
    end
  end
end

for _, org in ipairs(unsure) do redis.call('ZADD', KEYS[1], '0', org) end
if #given > 0 then
  redis.call('SET', KEYS[3], string.format('%.0f', fence))
  redis.call('PEXPIRE', own, 2 * lease)
end
return given
