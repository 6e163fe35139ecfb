-- Tells one process in which somebody waits for work that there is some.
-- KEYS  1 processes in which somebody waits, by the time until which they count
-- ARGV  1 process that asks: nobody waits there any more  2 what begins every process' channel  3 message
--       4 how many must hear it at least: 1, or 0 where Redis cannot count them all (a cluster)
-- Reply 1 one was told, 0 nobody waits
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('ZREM', KEYS[1], ARGV[1])

for _, process in ipairs(redis.call('ZRANDMEMBER', KEYS[1], 10)) do
  if redis.call('PUBLISH', ARGV[2] .. process, ARGV[3]) >= tonumber(ARGV[4]) then return 1 end
  -- It is gone.
  redis.call('ZREM', KEYS[1], process)
end
return 0
