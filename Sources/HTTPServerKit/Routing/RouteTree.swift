internal import HTTPParser

/// The routes whose paths have parameters or a rest, as a tree of segments. The cost of a search
/// depends on the number of segments, not on the number of routes.
struct RouteTree: Sendable {
    fileprivate struct Node: Sendable {
        /// The literal segments that follow, sorted, and the child node of each.
        var names: [[UInt8]] = []
        var children: [Int] = []
        /// The child node of a parameter, or -1.
        var parameter = -1
        /// The routes that end here, and those with a rest after this node; the newest last.
        var whole: [Int] = []
        var open: [Int] = []
        /// The newest route here or below.
        var newest = -1
    }

    private var nodes = [Node()]

    /// The newest route of the tree, or -1.
    var newest: Int { nodes[0].newest }

    mutating func add(_ route: Int, _ segments: [RoutePattern.Segment], hasRest: Bool) {
        var node = 0
        nodes[node].newest = route
        for segment in segments {
            node = child(of: node, segment)
            nodes[node].newest = route
        }
        if hasRest {
            nodes[node].open.append(route)
        } else {
            nodes[node].whole.append(route)
        }
    }

    private mutating func child(of node: Int, _ segment: RoutePattern.Segment) -> Int {
        switch segment {
        case .parameter:
            if nodes[node].parameter < 0 {
                nodes[node].parameter = nodes.count
                nodes.append(Node())
            }
            return nodes[node].parameter
        case .literal(let name):
            let (place, isThere) = unsafe nodes[node].place(
                of: 0..<name.count, in: name.span.bytes)
            if !isThere {
                nodes[node].names.insert(name, at: place)
                nodes[node].children.insert(nodes.count, at: place)
                nodes.append(Node())
            }
            return nodes[node].children[place]
        }
    }

    /// The newest matching route that `accepts` accepts, if it is newer than `other`; else `other`.
    func newest(
        _ path: RawSpan, _ segments: PathSegments, above other: Int, _ accepts: (Int) -> Bool
    ) -> Int {
        var best = other
        search(0, path, segments, &best, accepts)
        return best
    }

    private func search(
        _ index: Int, _ path: RawSpan, _ rest: PathSegments, _ best: inout Int,
        _ accepts: (Int) -> Bool
    ) {
        guard nodes[index].newest > best else { return }
        Self.choose(nodes[index].open, &best, accepts)
        var rest = rest
        guard let segment = rest.next(in: path) else {
            return Self.choose(nodes[index].whole, &best, accepts)
        }
        let parameter = nodes[index].parameter
        if parameter >= 0, !segment.isEmpty, path.text(segment) != nil {
            search(parameter, path, rest, &best, accepts)
        }
        guard !nodes[index].children.isEmpty else { return }
        let (place, isThere) = nodes[index].place(of: segment, in: path)
        guard isThere else { return }
        search(nodes[index].children[place], path, rest, &best, accepts)
    }

    private static func choose(_ routes: [Int], _ best: inout Int, _ accepts: (Int) -> Bool) {
        var index = routes.count - 1
        while index >= 0, routes[index] > best {
            if accepts(routes[index]) { best = routes[index] }
            index -= 1
        }
    }
}

extension RouteTree.Node {
    /// The index of a segment among the names, or the index to insert it at.
    fileprivate func place(of segment: Range<Int>, in path: RawSpan) -> (Int, isThere: Bool) {
        var (low, high) = (0, names.count)
        while low < high {
            let middle = (low + high) / 2
            let order = path.order(segment, names[middle])
            if order == 0 { return (middle, true) }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return (low, false)
    }
}
