// Our tests use the helpers that users' tests have.
@_exported public import HTTPToolkitTesting
