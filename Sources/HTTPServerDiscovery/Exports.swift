// Importing this module also imports the addresses.
@_exported public import HTTPServerAddresses
