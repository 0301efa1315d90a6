// Addresses belong to discovery: whoever imports it has them.
@_exported public import HTTPServerAddresses
