-- SPDX-License-Identifier: Apache-2.0

-- The load on the service, for wrk: mostly reads of a few popular items, some
-- writes, few searches, and here and there an item that does not exist.
--
--   wrk -t2 -c8 -d5s -s load.lua http://127.0.0.1:PORT
--
-- Ends with one line of JSON. Each connection sends its next request when it
-- has the answer to the last one, so what is measured is the service's time,
-- not that of requests which would have queued outside.

local ITEMS = 10000
local WRITES, SEARCHES, MISSES = 0.10, 0.01, 0.005

local words = {"amber", "basin", "cedar", "delta", "ember", "fjord", "grove",
               "heron", "nothing of the kind"}

local threads_made = 0

function setup(thread)
  threads_made = threads_made + 1
  thread:set("seed", threads_made)
end

-- The n-th most popular item is asked for with probability ~ 1 / n.
local cumulative = {}

function init()
  math.randomseed(seed)
  local sum = 0
  for rank = 1, ITEMS do
    sum = sum + 1 / rank
    cumulative[rank] = sum
  end
end

local function popular_item()
  local wanted = math.random() * cumulative[ITEMS]
  local low, high = 1, ITEMS
  while low < high do
    local middle = math.floor((low + high) / 2)
    if cumulative[middle] < wanted then low = middle + 1 else high = middle end
  end
  -- Spread over the ids, so that popular items are not neighbours.
  return low * 7919 % ITEMS + 1
end

function request()
  local kind = math.random()
  if kind < WRITES then
    local word = words[math.random(#words)]
    return wrk.format("PUT", "/items/" .. popular_item(), nil,
                      string.rep(word .. " ", 20))
  end
  kind = kind - WRITES
  if kind < SEARCHES then
    local word = words[math.random(#words)]:gsub(" ", "+")
    return wrk.format("GET", "/search?word=" .. word)
  end
  kind = kind - SEARCHES
  if kind < MISSES then
    return wrk.format("GET", "/items/" .. ITEMS + math.random(1000))
  end
  return wrk.format("GET", "/items/" .. popular_item())
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"duration_us":%d,"socket_errors":%d,' ..
    '"p50_us":%d,"p90_us":%d,"p99_us":%d,"p999_us":%d,"max_us":%d}\n',
    summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(90), latency:percentile(99),
    latency:percentile(99.9), latency.max))
end
