#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    // The cases Y1 to Y37 of YMHTTP that are about sessions and tasks, as code for NSURLSession is
    // written.

    @Suite("YMHTTP with URLSession's names: tasks and sessions", .timeLimit(.minutes(3)))
    struct YMHTTPSessionTests {
        @Test("Y1 to Y4: Data tasks work by URL and request, with a delegate and a handler")
        func dataTasks() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/get?a=b")
            let log = SessionLog()
            let session = URLSession.logging(log)
            for byURL in [true, false] {
                let request = URLRequest("GET", url, ["Accept": "text/x"])
                let before = log.order.count
                let told = log.content.count
                (byURL ? session.dataTask(with: url) : session.dataTask(with: request)).resume()
                try await log.wait { $0.filter { $0 == "complete" }.count == (byURL ? 1 : 2) }
                #expect(log.order.dropFirst(before) == ["response 200", "data", "complete"])
                let echo = try Echo(Data(log.content.dropFirst(told)))
                #expect(echo.args == ["a": "b"])
                if !byURL { #expect(echo.headers?["Accept"] == "text/x") }
            }
            let (data, response): (Data?, URLResponse?) = await withCheckedContinuation { done in
                session.dataTask(with: url) { data, response, _ in
                    done.resume(returning: (data, response))
                }.resume()
            }
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(try Echo(data).args == ["a": "b"])
            let (again, head, error) = await session.answer(
                URLRequest("GET", url, ["Accept": "text/x"]))
            #expect(try head?.statusCode == 200 && Echo(again).args == ["a": "b"])
            #expect(error == nil && log.entries.filter { $0 == "complete" }.count == 2)
            session.invalidateAndCancel()
        }

        @Test("Y7 to Y10: Downloads work by URL and request, with a delegate and a handler")
        func downloads() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/image/jpeg")
            let whole = try #require(await URLSession.shared.answer(URLRequest(url: url)).0)
            for byURL in [true, false] {
                let log = SessionLog()
                let session = URLSession.logging(log)
                let request = URLRequest(url: url)
                (byURL ? session.downloadTask(with: url) : session.downloadTask(with: request))
                    .resume()
                try await log.completed()
                #expect(log.order == ["file", "complete"] && log.content == whole)
                #expect(log.progress == [Int64(whole.count), Int64(whole.count)])
                let (content, status): (Data?, Int?) = await withCheckedContinuation { done in
                    let handler: @Sendable (URL?, URLResponse?, (any Error)?) -> Void = {
                        let content = $0.flatMap { try? Data(contentsOf: $0) }
                        let response = $1 as? HTTPURLResponse
                        done.resume(returning: (content, $2 == nil ? response?.statusCode : nil))
                    }
                    let task =
                        byURL
                        ? session.downloadTask(with: url, completionHandler: handler)
                        : session.downloadTask(with: request, completionHandler: handler)
                    task.resume()
                }
                #expect(content == whole && status == 200)
                session.finishTasksAndInvalidate()
            }
        }

        @Test("Y6, Y11: gzip is decoded, as data and as a download that requests it")
        func gzip() async throws {
            struct Answer: Decodable { var gzipped: Bool }
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let url = try server.bin("/gzip")
            let (data, _) = try await session.data(from: url)
            #expect(try JSONDecoder().decode(Answer.self, from: data).gzipped)
            let (file, _) = try await session.download(
                for: URLRequest("GET", url, ["Accept-Encoding": "gzip"]))
            defer { try? FileManager.default.removeItem(at: file) }
            let content = try Data(contentsOf: file)
            #expect(try JSONDecoder().decode(Answer.self, from: content).gzipped)
        }

        @Test("Y12: finishTasksAndInvalidate lets tasks end, and then notifies the delegate")
        func finishTasks() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            session.dataTask(with: try server.own("/halves")).resume()
            try await log.wait { $0.contains("data") }
            session.finishTasksAndInvalidate()
            server.open()
            try await log.wait { $0.last == "invalid" }
            #expect(log.order == ["response 200", "data", "complete", "invalid"])
            #expect(log.content == Data("halfrest".utf8))
        }

        @Test("Y13, Y34: A bad URL is reported as one error, also if the task is cancelled")
        func badURL() async throws {
            for cancels in [false, true] {
                let log = SessionLog()
                let session = URLSession.logging(log)
                let task = session.dataTask(with: try #require(URL(string: "http://a:99999/x")))
                task.resume()
                if cancels { task.cancel() }
                session.finishTasksAndInvalidate()
                try await log.wait { $0.last == "invalid" }
                let ends = log.order.filter { $0.hasPrefix("complete") }
                #expect(ends == ["complete -1000"] || (cancels && ends == ["complete -999"]))
            }
            var request = URLRequest(url: URL(fileURLWithPath: "/"))
            request.url = nil
            let (data, response, error) = await URLSession.shared.answer(request)
            #expect(data == nil && response == nil)
            #expect(error == .unsupportedURL || error == .badURL)
        }

        @Test("Y14: All references to a task, also in allTasks, are the same object")
        func identity() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let task = session.dataTask(with: try server.own("/halves"))
            let copy = task
            copy.resume()
            try await log.wait { $0.contains("data") }
            let all = await session.allTasks
            #expect(all.count == 1 && all.first === task && all.first?.isEqual(copy) == true)
            copy.taskDescription = "same"
            #expect(task.taskDescription == "same" && task.state == .running)
            server.open()
            try await log.completed()
            #expect(task.countOfBytesReceived == 8 && task.state == .completed)
        }

        @Test("Y15, Y35: Cancelled tasks end with -999 and cannot be resumed")
        func cancel() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let task = session.dataTask(with: try server.own("/halves"))
            task.resume()
            try await log.wait { $0.contains("data") }
            task.cancel()
            try await log.completed()
            #expect(task.error?.sessionCode == .cancelled && task.state == .completed)
            task.resume()
            server.open()
            try await waitUntil { await session.allTasks.isEmpty }
            #expect(log.order == ["response 200", "data", "complete -999"])
            #expect(task.state == .completed && log.content == Data("half".utf8))
        }

        @Test("Y18: The timeout of the request or of the session ends a task")
        func timeout() async throws {
            let server = try await SessionServer()
            var request = URLRequest(url: try server.bin("/delay/10"))
            request.timeoutInterval = 0.3
            let (_, _, error) = await URLSession.shared.answer(request)
            #expect(error == .timedOut)
            let log = SessionLog()
            let session = URLSession.logging(log) { $0.timeoutIntervalForRequest = 0.3 }
            session.dataTask(with: try server.bin("/delay/10")).resume()
            try await log.completed()
            #expect(log.order == ["complete -1001"])
        }

        @Test("Y19 to Y21, Y37: Ten concurrent and fifty sequential tasks, status 999, no length")
        func many() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let sizes = Locked(Set<Int>())
            for count in 1...10 {
                session.dataTask(with: try server.bin("/bytes/\(count)")) { data, _, error in
                    if error == nil, let data { sizes.withLock { _ = $0.insert(data.count) } }
                }.resume()
            }
            try await waitUntil { sizes.withLock { $0.count } == 10 }
            #expect(sizes.withLock { $0 } == Set(1...10))
            for count in 0..<50 {
                let (data, _, error) = await session.answer(
                    URLRequest(url: try server.bin("/bytes/\(count)")))
                #expect(data?.count == count && error == nil)
            }
            let odd = await session.answer(URLRequest(url: try server.bin("/status/999")))
            #expect(odd.1?.statusCode == 999 && odd.2 == nil)
            let (data, response, _) = await session.answer(
                URLRequest(url: try server.bin("/stream-bytes/2048")))
            #expect(data?.count == 2_048 && response?.expectedContentLength == -1)
        }

        @Test("Y30, Y31: invalidateAndCancel ends all tasks, and new ones fail")
        func invalidateAndCancel() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let task = session.dataTask(with: try server.own("/halves"))
            task.resume()
            try await log.wait { $0.contains("data") }
            #expect(await session.allTasks.map(\.taskIdentifier) == [task.taskIdentifier])
            session.invalidateAndCancel()
            try await log.wait { $0.last == "invalid" }
            #expect(log.order == ["response 200", "data", "complete -999", "invalid"])
            #expect(await session.allTasks.isEmpty && task.error?.sessionCode == .cancelled)
            let late = await session.answer(URLRequest(url: try server.bin("/get")))
            #expect(late.0 == nil && late.2 != nil)
            #expect(await session.allTasks.isEmpty)
            // The shared session ignores the call.
            URLSession.shared.invalidateAndCancel()
            let (_, response) = try await URLSession.shared.data(from: server.bin("/get"))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }

        @Test("Y32: The delegate is held until the session is invalid, and then released")
        func delegateLetGo() async throws {
            weak var kept: SessionLog?
            let session: URLSession
            do {
                let log = SessionLog()
                kept = log
                session = URLSession.logging(log)
            }
            #expect(kept != nil && session.delegate === kept)
            session.finishTasksAndInvalidate()
            try await waitUntil { kept == nil && session.delegate == nil }
        }

        @Test("Y33: The list of tasks includes suspended tasks, and not cancelled ones")
        func allTasks() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let tasks = try (0..<3).map { _ in session.dataTask(with: try server.own("/silent")) }
            tasks.forEach { $0.resume() }
            #expect(await session.allTasks == tasks)
            tasks[0].suspend()
            #expect(await session.allTasks == tasks && tasks[0].state == .suspended)
            tasks[0].resume()
            #expect(tasks[0].state == .running)
            tasks[1].cancel()
            try await waitUntil { await session.allTasks.count == 2 }
            let (data, uploads, downloads) = await session.tasks
            #expect(data == [tasks[0], tasks[2]] && uploads.isEmpty && downloads.isEmpty)
            session.invalidateAndCancel()
            try await waitUntil { await session.allTasks.isEmpty }
        }

        @Test("Y36: Suspensions are counted from one, and delay the received content")
        func suspensions() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let task = session.dataTask(with: try server.own("/halves"))
            #expect(task.state == .suspended)
            task.suspend()
            task.resume()
            #expect(task.state == .suspended)
            task.resume()
            #expect(task.state == .running)
            try await log.wait { $0.contains("data") }
            task.suspend()
            task.suspend()
            server.open()
            task.resume()
            #expect(task.state == .suspended && !log.entries.contains("complete"))
            task.resume()
            try await log.completed()
            #expect(log.content == Data("halfrest".utf8))
        }
    }
#endif
