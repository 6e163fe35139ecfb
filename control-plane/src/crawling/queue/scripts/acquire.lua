-- waiting -> leased: the oldest job of the organization whose turn it is.
-- KEYS  1 ring  2 leased  3 fence
-- ARGV  1 prefix of the shard's keys  2 node  3 lease in ms  4 the most jobs to give  5 the most leases of the node
-- Reply { job id, fence, organization, job id, ... }, empty when nothing waits
local prefix, node, lease, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local micros = time[1] * 1000000 + time[2]
local given = {}

-- Leases that have run out no longer count, reaped or not.
local own = prefix .. 'node:' .. node
redis.call('ZREMRANGEBYSCORE', own, '-inf', string.format('%.0f', now))
most = math.min(most, tonumber(ARGV[5]) - redis.call('ZCARD', own))

-- Of four turns three go to band 0 first and one to band 1, so that neither starves.
local function take(org)
  local waiting = prefix .. 'waiting:'
  local turn = redis.call('INCR', prefix .. 'turns:' .. org)
  local first = turn % 4 == 0 and 1 or 0
  for _, band in ipairs({ first, 1 - first }) do
    local id = redis.call('ZPOPMIN', waiting .. band .. ':' .. org)[1]
    if id then return id end
  end
end

local function give(id, org)
  local hash = prefix .. 'job:' .. id
  if redis.call('HGET', hash, 'state') ~= 'waiting' then return end
  local last = tonumber(redis.call('GET', KEYS[3]) or '0')
  -- It grows even when Redis has lost everything. '%.0f', because Lua writes large numbers with an exponent.
  local fence = string.format('%.0f', math.max(last + 1, micros))
  redis.call('SET', KEYS[3], fence)
  redis.call('HSET', hash, 'state', 'leased', 'fence', fence, 'node', node)
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + lease), id)
  redis.call('ZADD', own, string.format('%.0f', now + lease), id)
  given[#given + 1] = id
  given[#given + 1] = fence
  given[#given + 1] = org
end

while #given < most * 3 do
  local org = redis.call('LPOP', KEYS[1])
  if not org then break end
  local id = take(org)
  local left = redis.call('ZCARD', prefix .. 'waiting:0:' .. org) + redis.call('ZCARD', prefix .. 'waiting:1:' .. org)
  if left > 0 then
    redis.call('RPUSH', KEYS[1], org)
  else
    redis.call('DEL', prefix .. 'turns:' .. org)
  end
  if id then give(id, org) end
end
if redis.call('EXISTS', own) == 1 then redis.call('PEXPIRE', own, 2 * lease) end
return given
