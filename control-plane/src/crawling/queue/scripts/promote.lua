-- delayed -> waiting, for those that are due, and those that are due later than any: the clock of Redis has been set back since.
-- KEYS  1 delayed  2 round-robin set (`ring`)  3 clock
-- ARGV  1 prefix of the shard's keys  2 maximum number of jobs  3 the longest delay in ms
-- Reply number of promoted jobs
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moved = 0

local function promote(id)
  redis.call('ZREM', KEYS[1], id)
  local hash = prefix .. 'job:' .. id
  local org, class, state = unpack(redis.call('HMGET', hash, 'org', 'band', 'state'))
  if state == 'delayed' then
    local waiting = prefix .. 'waiting:' .. class
    local since = string.format('%.0f', now * 1000)
    redis.call('HSET', hash, 'state', 'waiting')
    redis.call('ZADD', waiting .. ':' .. org, since, id)
    redis.call('ZADD', waiting, since, id)
    redis.call('ZADD', KEYS[2], 'NX', redis.call('GET', KEYS[3]) or '0', org)
    moved = moved + 1
  end
end

for _, range in ipairs({ { '-inf', string.format('%.0f', now) }, { string.format('(%.0f', now + ARGV[3]), '+inf' } }) do
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], range[1], range[2], 'LIMIT', 0, ARGV[2])) do promote(id) end
end
return moved
