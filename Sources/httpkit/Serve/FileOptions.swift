import ArgumentParser
internal import HTTPServerKit

/// The paths of the server and their handlers.
struct FileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file that is served for its directory.", valueName: "name"))
    var index = "index.html"

    @Flag(
        help: ArgumentHelp(
            "Answer missing pages with the index file, as browser applications need.",
            discussion: "Missing files that pages and scripts load are still 404."))
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
                only if a NAME.gz exists next to NAME and is not older.
                """))
    var gzip = true

    @Flag(help: "Allow no changes in the directory, neither by WebDAV nor by the upload page.")
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
        // In this program no request changes a file and then gets that file as its answer.
        options.sharesChecks = true
        return options
    }
}
