-- Part of acquire.lua, end.lua, reap.lua and renew.lua, whose text follows this.
-- The losses in a row of a node, by its name, for whatever process of it: `<how many> <time of the last one in ms>`, and under `released <name>` the
-- leases in a row that it has released. A node that loses or releases whatever it gets would otherwise be the one that is always free, and take the
-- jobs of all others. A key that is not what it should be is as good as none.
local LOSSES_KEPT_MS, PAUSE_MAX_MS = 3600000, 60000
-- A node that drains releases what it has, at most 256 leases.
local RELEASES_FREE = 300

local function nameOf(node) return string.match(node, '^[^/]*') end
local function releasedBy(node) return 'released ' .. nameOf(node) end

local function countOf(key, field)
  local known = redis.pcall('HGET', key, field)
  local count, at = string.match(type(known) == 'string' and known or '', '^(%d+) (%d+)$')
  return tonumber(count or '0'), tonumber(at or '0')
end

local function setCount(key, field, count, now)
  redis.pcall('HSET', key, field, string.format('%d %.0f', count, now))
  redis.pcall('PEXPIRE', key, LOSSES_KEPT_MS)
end

-- Leases that are lost within the time of one lease are one loss: the end of the node.
local function countLoss(key, node, now, lease)
  local count, at = countOf(key, nameOf(node))
  if count > 0 and math.abs(now - at) < lease then return end
  setCount(key, nameOf(node), count + 1, now)
end

local function forgetLosses(key, node) redis.pcall('HDEL', key, nameOf(node)) end

local function countRelease(key, node, now)
  local field = releasedBy(node)
  setCount(key, field, countOf(key, field) + 1, now)
end

local function forgetReleases(key, node) redis.pcall('HDEL', key, releasedBy(node)) end

-- How many leases a node may have at once, by such a count: with one, one lease, and from the second in a row on none for a while, which doubles.
local function mostAfter(count, at, now)
  -- One in the future was counted before the clock of Redis was set back.
  if count <= 0 or at > now then return math.huge end
  if count > 1 and now < at + math.min(1000 * 2 ^ (count - 1), PAUSE_MAX_MS) then return 0 end
  return 1
end

-- How many leases the node may have at once.
local function mostAfterLosses(key, node, now)
  local losses, lostAt = countOf(key, nameOf(node))
  local releases, releasedAt = countOf(key, releasedBy(node))
  return math.min(mostAfter(losses, lostAt, now), mostAfter(releases - RELEASES_FREE, releasedAt, now))
end
