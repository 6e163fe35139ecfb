-- Gives a piece of work up.
-- KEYS  1 the work
-- ARGV  1 who had it
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
