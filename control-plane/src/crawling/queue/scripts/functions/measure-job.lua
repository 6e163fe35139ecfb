-- Part of end.lua, whose text follows this.
-- Adds how long a job was leased (from `since` to `now`, in ms) to the mean of its class, in which the last thirty or so count most. A key that is
-- not what it should be is as good as none: it only estimates.
local function measureJob(key, class, since, now)
  if not since or not class then return end
  local took = math.max(1, now - since)
  local known = redis.pcall('HGET', key, class)
  local mean = type(known) == 'string' and tonumber(known) or took
  redis.pcall('HSET', key, class, string.format('%.0f', math.max(1, mean + (took - mean) / 32)))
end

