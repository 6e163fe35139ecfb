-- Part of acquire.lua, end.lua, reap.lua and renew.lua, whose text follows this.
-- The losses in a row of a node, by its name, for whatever process of it: `<how many> <time of the last one in ms>`. A node that loses whatever it
-- gets would otherwise be the one that is always free, and take the jobs of all others. A key that is not what it should be is as good as none.
local LOSSES_KEPT_MS, PAUSE_MAX_MS = 3600000, 60000

local function nameOf(node) return string.match(node, '^[^/]*') end

local function lossesOf(key, node)
  local known = redis.pcall('HGET', key, nameOf(node))
  local count, at = string.match(type(known) == 'string' and known or '', '^(%d+) (%d+)$')
  return tonumber(count or '0'), tonumber(at or '0')
end

-- Leases that are lost within the time of one lease are one loss: the end of the node.
local function countLoss(key, node, now, lease)
  local count, at = lossesOf(key, node)
  if count > 0 and math.abs(now - at) < lease then return end
  redis.pcall('HSET', key, nameOf(node), string.format('%d %.0f', count + 1, now))
  redis.pcall('PEXPIRE', key, LOSSES_KEPT_MS)
end

local function forgetLosses(key, node) redis.pcall('HDEL', key, nameOf(node)) end

-- How many leases the node may have at once: after a loss one, and from the second in a row on none for a while, which doubles.
local function mostAfterLosses(key, node, now)
  local count, at = lossesOf(key, node)
  -- One in the future was counted before the clock of Redis was set back.
  if count == 0 or at > now then return math.huge end
  if count > 1 and now < at + math.min(1000 * 2 ^ (count - 1), PAUSE_MAX_MS) then return 0 end
  return 1
end

