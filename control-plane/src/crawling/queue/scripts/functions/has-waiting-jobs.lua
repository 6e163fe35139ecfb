-- Part of acquire.lua, drop.lua, end.lua, limit.lua and reap.lua, whose text follows this.
-- Whether any job of an organization waits, in any priority class.
local function hasWaitingJobs(prefix, org)
  local waiting = prefix .. 'waiting:'
  return redis.call('EXISTS', waiting .. '0:' .. org, waiting .. '1:' .. org, waiting .. '2:' .. org) > 0
end

