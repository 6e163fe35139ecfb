-- Counts leased jobs by priority class.
-- KEYS  1 leased
-- ARGV  1 prefix of the shard's keys  2 maximum number of jobs to look at
-- Reply { those of class 0, of class 1, of class 2 }
local counts = { 0, 0, 0 }
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1)) do
  local class = tonumber(redis.call('HGET', ARGV[1] .. 'job:' .. id, 'band') or '')
  if counts[(class or -1) + 1] then counts[class + 1] = counts[class + 1] + 1 end
end
return counts
