internal import HTTPServerCore
internal import ToolkitSystem

extension LocalStore {
    /// Links content that is already in a file of the same volume.
    /// - Returns: `nil` if linking is impossible.
    func taken(
        _ given: ContentFile, for path: ResourcePath
    ) async throws -> LocalContent? {
        try await shortWork { [self] () throws in
            let target = try self.place(of: path)
            let place = staging.place(beside: target, isContent: true)
            do throws(SystemError) {
                try given.place.directory.link(given.place.name, to: place)
            } catch {
                return nil
            }
            let content = LocalContent(file: given.file, place: place)
            content.length = given.length
            return content
        }
    }
}
