-- Lists a process that has a loop waiting for work.
-- KEYS  1 listed processes, by the time at which their listing expires
-- ARGV  1 process  2 lifetime of the listing in ms
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
return 1
