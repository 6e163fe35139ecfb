-- Notes that somebody waits for work in a process.
-- KEYS  1 processes in which somebody waits, by the time until which they count
-- ARGV  1 process  2 for how many ms
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
return 1
