-- Posts a file as JSON; the name of the file follows "--" on the command line of wrk.
init = function(args)
   local file = assert(io.open(args[1], "rb"))
   wrk.method = "POST"
   wrk.body = file:read("*a")
   wrk.headers["Content-Type"] = "application/json"
   file:close()
end

dofile("report.lua")
