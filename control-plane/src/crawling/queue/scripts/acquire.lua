-- waiting -> leased: the oldest job of the organization that has had the least slot time.
-- KEYS  1 round-robin set (`ring`)  2 leased  3 fence  4 caps  5 adopted  6 clock  7 spent  8 lost
-- ARGV  1 prefix of the shard's keys  2 node  3 lease in ms  4 maximum number of jobs  5 maximum number of leases of the node
--       6 slot time in ms that a job is charged before it is known (end.lua and reap.lua correct it)
-- Reply { job id, fence, organization, job id, ... }, empty when nothing can be leased; 0: the node may have no more at the moment
local prefix, node, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = string.format('%.0f', now + lease)
local own = prefix .. 'node:' .. node
-- Expired leases do not count, whether or not they have been reaped.
local held = redis.call('ZCOUNT', own, string.format('(%.0f', now), '+inf')
local slots = math.min(tonumber(ARGV[5]), mostAfterLosses(KEYS[8], node, now))
local most = math.min(tonumber(ARGV[4]), slots - held)
if most <= 0 then return 0 end
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
  local waiting = prefix .. 'waiting:'
  local keys = {}
  for at, class in ipairs({ TURNS[(turn - 1) % #TURNS + 1], 0, 1, 2 }) do keys[at] = waiting .. class .. ':' .. org end
  -- From the first that has a job.
  local popped = redis.call('ZMPOP', 4, keys[1], keys[2], keys[3], keys[4], 'MIN')
  if not popped then return end
  local key, id = popped[1], popped[2][1][1]
  redis.call('ZREM', string.sub(key, 1, #waiting + 1), id)
  return id
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

-- The front of the round-robin set, which is popped for several jobs at once and what is left of it put back: { org =, score =, cap = }.
local front = {}
-- The last organization that was popped: those in the set come after it. `isEmpty`: there are none.
local reach, isEmpty = nil, false
local POPPED_MAX = 16

local function isBefore(one, other)
  if one.score ~= other.score then return one.score < other.score end
  return one.org < other.org
end

local function popFront(count)
  local popped = redis.call('ZPOPMIN', KEYS[1], count)
  isEmpty = #popped < 2 * count
  if #popped == 0 then return end
  local orgs = {}
  for at = 1, #popped, 2 do orgs[#orgs + 1] = popped[at] end
  local caps = redis.call('HMGET', KEYS[4], unpack(orgs))
  for at, org in ipairs(orgs) do
    local score = tonumber(popped[2 * at])
    front[#front + 1] = { org = org, score = score, cap = tonumber(caps[at]) }
    reach = { org = org, score = score }
  end
end

-- The organization with the least slot time, or nil: none waits.
local function nextOrganization()
  while true do
    local first
    for at, one in ipairs(front) do
      if not first or isBefore(one, front[first]) then first = at end
    end
    if first and (isEmpty or not isBefore(reach, front[first])) then return table.remove(front, first) end
    if isEmpty then return nil end
    popFront(math.min(most - #given / 3, POPPED_MAX))
  end
end

local function mayLease(org, cap)
  if not cap then return true end
  if isAdopted == nil then isAdopted = redis.call('EXISTS', KEYS[5]) == 1 end
  if not isAdopted then unsure[#unsure + 1] = org end
  -- An organization at its cap leaves the round-robin set; the end of one of its leases adds it again.
  return isAdopted and redis.call('ZCOUNT', prefix .. 'leases:' .. org, now - FORGOTTEN_MS, '+inf') < cap
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
for _ = 1, most + 500 do
  local one = #given < most * 3 and nextOrganization()
  if not one then break end
  local org, at = one.org, slotTime(one.org, one.score)
  if at > one.score then
    one.score = at
    front[#front + 1] = one
  elseif mayLease(org, one.cap) then
    local id = take(org)
    -- The set lists an organization without jobs: Redis has lost data, and the refill must rebuild the index.
    if id then give(id, org) else redis.call('DEL', KEYS[5]) end
    clock = math.max(clock, at)
    at = at + charged * 1000
    if hasWaitingJobs(prefix, org) then
      one.score = at
      front[#front + 1] = one
    else
      redis.call('DEL', prefix .. 'turns:' .. org)
      remember(org, at)
    end
  else
    remember(org, at)
  end
end

local back = {}
for _, one in ipairs(front) do
  back[#back + 1] = string.format('%.0f', one.score)
  back[#back + 1] = one.org
end
if #back > 0 then redis.call('ZADD', KEYS[1], unpack(back)) end
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
