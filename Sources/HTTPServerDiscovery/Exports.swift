// Importing discovery also imports the addresses, which belong to it.
@_exported public import HTTPServerAddresses
