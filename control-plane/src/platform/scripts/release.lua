-- Releases a claim of exclusive work.
-- KEYS  1 claim
-- ARGV  1 process that holds it
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
