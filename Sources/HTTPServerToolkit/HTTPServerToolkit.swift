// A server by one import: the core, the kit of routes, files, content, middleware and logs, and the
// words of messages that both name. Logins and discovery are modules of their own.
@_exported public import HTTPCodecs
@_exported public import HTTPParser
@_exported public import HTTPServerCore
@_exported public import HTTPServerKit
