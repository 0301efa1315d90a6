// What the tests of users have, ours have too.
@_exported public import HTTPToolkitTesting
