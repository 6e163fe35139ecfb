-- Claims exclusive work, or renews the claim.
-- KEYS  1 claim
-- ARGV  1 process that claims it  2 lifetime of the claim in ms
-- Reply 1 claimed, 0 another process holds the claim
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
