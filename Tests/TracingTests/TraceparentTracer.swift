#if Tracing
    import InMemoryTracing
    import Tracing

    /// Keeps spans in memory, and sends their context in `traceparent` (W3C Trace Context).
    struct TraceparentTracer: Tracer {
        let spans = InMemoryTracer(
            idGenerator: .init(
                nextTraceID: { hexadecimal(digits: 32) }, nextSpanID: { hexadecimal(digits: 16) }))

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext,
            ofKind kind: SpanKind, at instant: @autoclosure () -> Instant, function: String,
            file fileID: String, line: UInt
        ) -> InMemorySpan {
            spans.startSpan(
                operationName, context: context(), ofKind: kind, at: instant(),
                function: function, file: fileID, line: line)
        }

        func forceFlush() {}

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract.Carrier == Carrier {
            let parts = extractor.extract(key: "traceparent", from: carrier)?.split(separator: "-")
            guard let parts, parts.count == 4 else { return }
            let ids = [
                InMemoryTracer.traceIDKey: String(parts[1]),
                InMemoryTracer.spanIDKey: String(parts[2]),
            ]
            spans.extract(ids, into: &context, using: DictionaryCarrier())
        }

        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier {
            var ids: [String: String] = [:]
            spans.inject(context, into: &ids, using: DictionaryCarrier())
            guard let trace = ids[InMemoryTracer.traceIDKey],
                let span = ids[InMemoryTracer.spanIDKey]
            else { return }
            injector.inject("00-\(trace)-\(span)-01", forKey: "traceparent", into: &carrier)
        }
    }

    private struct DictionaryCarrier: Extractor, Injector {
        func extract(key: String, from values: [String: String]) -> String? { values[key] }

        func inject(_ value: String, forKey key: String, into values: inout [String: String]) {
            values[key] = value
        }
    }

    private func hexadecimal(digits: Int) -> String {
        String((0..<digits).map { _ in "0123456789abcdef".randomElement() ?? "0" })
    }
#endif
