-- Part of end.lua and reap.lua, whose text follows this.
-- Adds the slot time in ms that a job took (from `since` to `now`) to that of its organization, less what acquire.lua charged in advance.
-- The lease ends also where a key is not what it should be: acquire.lua fails then, which has the index rebuilt.
-- Returns whether the organization is known to be in the round-robin set.
-- keys  1 round-robin set (`ring`)  2 clock  3 spent
local function chargeSlotTime(keys, org, since, charged, now)
  if not since then return false end
  -- A job that ends at once has cost a lease.
  local micros = (math.max(now - since, 100) - charged) * 1000
  local spent = redis.pcall('ZSCORE', keys[3], org)
  if not spent then
    local at = redis.pcall('ZADD', keys[1], 'XX', 'INCR', string.format('%.0f', micros), org)
    -- An error is a table.
    if at then return type(at) == 'string' end
  end
  local at = (tonumber(spent) or tonumber(redis.pcall('GET', keys[2])) or 0) + micros
  redis.pcall('ZADD', keys[3], string.format('%.0f', at), org)
  redis.pcall('PEXPIRE', keys[3], 3600000)
  return false
end

