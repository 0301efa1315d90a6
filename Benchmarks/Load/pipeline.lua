-- Sends requests in groups, each group in one write: `wrk -s pipeline.lua URL -- DEPTH`.
dofile("report.lua")

local group

init = function(arguments)
   group = string.rep(wrk.format(), tonumber(arguments[1]))
end

request = function()
   return group
end
