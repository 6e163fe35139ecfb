-- Stores the report of a node's process.
-- KEYS  1 reports by process  2 slots of the node that reported last
-- ARGV  1 process  2 report  3 maximum number of processes  4 its slots ('': they are not kept)  5 maximum number of processes with this name  6 how they begin
-- Reply 1 stored, 0 it is a new process beyond a maximum
local function countOwn()
  local own = 0
  for _, process in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(process, 1, #ARGV[6]) == ARGV[6] then own = own + 1 end
  end
  return own
end

local most, mostOwn = tonumber(ARGV[3]), tonumber(ARGV[5])
local isNew = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0
if isNew and redis.call('HLEN', KEYS[1]) >= most then return 0 end
if isNew and mostOwn < most and countOwn() >= mostOwn then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[4] ~= '' then redis.call('SET', KEYS[2], ARGV[4]) end
return 1
