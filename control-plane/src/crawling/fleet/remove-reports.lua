-- Removes reports of nodes' processes, except those that have been replaced since they were read.
-- KEYS  1 reports by process
-- ARGV  1 process  2 its report as it was read  3 process ...
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end
