// Addresses belong to discovery: an import of it has them.
@_exported public import HTTPServerAddresses
