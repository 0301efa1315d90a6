// Types of the system layer that the core's interface uses, so that importing the core suffices.
@_exported public import enum ToolkitSystem.AddressFamily
@_exported public import enum ToolkitSystem.ListenError
@_exported public import struct ToolkitSystem.PeerCertificate
@_exported public import enum ToolkitSystem.SocketAddress
@_exported public import struct ToolkitSystem.StopSignal
@_exported public import struct ToolkitSystem.SystemError
@_exported public import struct ToolkitSystem.TLSInfo
