-- Part of end.lua, whose text follows this.
-- Adds how long a job was leased (from `since` to `now`, in ms) to the means of its class and of all jobs, in which the last thirty or so
-- count most. A key that is not what it should be is as good as none: it only estimates.
local function measureJob(key, class, since, now)
  if not since or not class then return end
  local took = math.max(1, now - since)
  local means = redis.pcall('HMGET', key, class, 'all')
  local function after(mean)
    mean = tonumber(mean or '') or took
    return string.format('%.0f', math.max(1, mean + (took - mean) / 32))
  end
  redis.pcall('HSET', key, class, after(means[1]), 'all', after(means[2]))
end

