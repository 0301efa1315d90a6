import ArgumentParser
internal import HTTPServerKit

/// The paths of the server and their handlers.
struct FileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file that is served in place of its directory.", valueName: "name"))
    var index = "index.html"

    @Flag(
        help: ArgumentHelp(
            "Answer pages that are not there by the index file, as browser applications need it.",
            discussion: "What scripts and pages load is 404 as before."))
    var spa = false

    @Flag(help: "Do not list directories without an index file.")
    var noListing = false

    @Option(help: ArgumentHelp("How long caches may store files.", valueName: "seconds"))
    var cacheAge: Int?

    @Flag(help: "Serve and list names that begin with a dot.")
    var showHidden = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Compress answers for clients that accept gzip; on by default.",
            discussion: """
                Files up to 1 MiB are compressed as they are sent, and kept in memory; longer ones \
                only if there is a NAME.gz beside NAME that is not older.
                """))
    var gzip = true

    @Flag(help: "Change nothing in the directory, by WebDAV or the upload page either.")
    var readOnly = false

    var options: FileHandler.Options {
        var options = FileHandler.Options()
        options.indexFiles = [index]
        options.listsDirectories = !noListing
        options.cacheAge = cacheAge ?? 0
        if spa {
            options.fallbackFile = index
            options.fallbackRequests = .navigations
        }
        options.showsHidden = showHidden
        options.servesPrecompressed = gzip
        // No request of this program changes a file that is its own answer.
        options.sharesChecks = true
        return options
    }
}
