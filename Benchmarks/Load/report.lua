-- Prints what server.py reads: requests, microseconds, errors, median and 99th percentile latency.
done = function(summary, latency, requests)
   local e = summary.errors
   io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration,
      e.connect + e.read + e.write + e.status + e.timeout,
      latency:percentile(50), latency:percentile(99)))
end
