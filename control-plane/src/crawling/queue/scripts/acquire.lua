-- waiting -> leased: the oldest job of the organization that has had the least slot time.
-- KEYS  1 round-robin set (`ring`)  2 leased  3 fence  4 caps  5 adopted  6 clock  7 spent
-- ARGV  1 prefix of the shard's keys  2 node  3 lease in ms  4 maximum number of jobs  5 maximum number of leases of the node
--       6 slot time in ms that a job is charged before it is known (end.lua and reap.lua correct it)
-- Reply { job id, fence, organization, job id, ... }, empty when nothing can be leased
local prefix, node, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = string.format('%.0f', now + lease)
local own = prefix .. 'node:' .. node
-- Expired leases do not count, whether or not they have been reaped.
local held = redis.call('ZCOUNT', own, string.format('(%.0f', now), '+inf')
local most = math.min(tonumber(ARGV[4]), tonumber(ARGV[5]) - held)
local kept = redis.call('MGET', KEYS[3], KEYS[6])
-- The time makes it grow even after Redis has lost its data. '%.0f', because Lua formats large numbers with an exponent.
local fence = math.max(tonumber(kept[1] or '0'), time[1] * 1000000 + time[2] - 1)
local given, unsure, isAdopted = {}, {}, nil
local charged = tonumber(ARGV[6])
-- Slot time of an organization, in microseconds, begins at that of the organization served last. No lost key may put one further behind
-- or ahead than this.
local BEHIND, AHEAD = 600000000, 3600000000
local clock = tonumber(kept[2] or redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or '0')
local hasSpent = redis.call('EXISTS', KEYS[7]) == 1
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
  for _, leased in ipairs({ prefix .. 'leases:' .. org, own, KEYS[2] }) do redis.call('ZADD', leased, deadline, id) end
  -- Last: if a key above has another type, the job still counts as waiting and is queued again at once.
  redis.call('HSET', hash, 'state', 'leased', 'fence', text, 'node', node, 'since', now, 'charged', charged)
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

-- Slot times of organizations that leave the round-robin set: { slot time, organization, ... }
local remembered = {}
local function remember(org, at)
  remembered[#remembered + 1] = string.format('%.0f', at)
  remembered[#remembered + 1] = org
end

-- Its slot time: its score, which is the clock if it has just joined the set, or what it had when it left.
local function slotTime(org, score)
  local spent = hasSpent and tonumber(redis.call('ZSCORE', KEYS[7], org) or '0') or 0
  if spent > 0 then redis.call('ZREM', KEYS[7], org) end
  return math.max(score, math.min(spent, clock + AHEAD), clock - BEHIND)
end

-- An id whose job does not exist also uses a turn; the loop is bounded in case there are many.
for _ = 1, most > 0 and most + 500 or 0 do
  local first = #given < most * 3 and redis.call('ZPOPMIN', KEYS[1]) or {}
  local org, score = first[1], tonumber(first[2])
  if not org then break end
  local at = slotTime(org, score)
  if at > score then
    redis.call('ZADD', KEYS[1], string.format('%.0f', at), org)
  elseif mayLease(org) then
    local id = take(org)
    -- The set lists an organization without jobs: Redis has lost data, and the refill must rebuild the index.
    if id then give(id, org) else redis.call('DEL', KEYS[5]) end
    clock = math.max(clock, at)
    at = at + charged * 1000
    if hasWaitingJobs(prefix, org) then
      redis.call('ZADD', KEYS[1], string.format('%.0f', at), org)
    else
      redis.call('DEL', prefix .. 'turns:' .. org)
      remember(org, at)
    end
  else
    remember(org, at)
  end
end

for _, org in ipairs(unsure) do redis.call('ZADD', KEYS[1], '0', org) end
if #given > 0 then
  redis.call('MSET', KEYS[3], string.format('%.0f', fence), KEYS[6], string.format('%.0f', clock))
  redis.call('PEXPIRE', own, 2 * lease)
end
-- Slot times are kept for as long as others compete: while nobody waits, nobody does. Who is not ahead of the clock would begin at it anyway.
if hasSpent or #remembered > 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then
    redis.call('DEL', KEYS[7])
  else
    if #remembered > 0 then redis.call('ZADD', KEYS[7], unpack(remembered)) end
    redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', string.format('%.0f', clock))
    redis.call('PEXPIRE', KEYS[7], 3600000)
  end
end
return given
