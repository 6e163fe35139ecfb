-- Sends a hint that there is work to one process that has a loop waiting for it.
-- KEYS  1 listed processes, by the time at which their listing expires
-- ARGV  1 sender, which has no waiting loop: it is removed from the list  2 prefix of every process' channel  3 message
--       4 minimum number of receivers: 1, or 0 if Redis cannot count all of them (a cluster)
-- Reply 1 sent, 0 no process is listed
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('ZREM', KEYS[1], ARGV[1])

for _, process in ipairs(redis.call('ZRANDMEMBER', KEYS[1], 10)) do
  if redis.call('PUBLISH', ARGV[2] .. process, ARGV[3]) >= tonumber(ARGV[4]) then return 1 end
  -- The process does not receive messages: it has stopped or lost its connection.
  redis.call('ZREM', KEYS[1], process)
end
return 0
