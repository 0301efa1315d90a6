// What the interface of the core names and the system layer defines: whoever imports the core has it.
@_exported public import enum ToolkitSystem.AddressFamily
@_exported public import enum ToolkitSystem.SocketAddress
@_exported public import struct ToolkitSystem.StopSignal
@_exported public import struct ToolkitSystem.SystemError
