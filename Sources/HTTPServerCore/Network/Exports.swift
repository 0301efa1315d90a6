// Types that the interface of the core names and the system layer defines: an import of the core has them.
@_exported public import enum ToolkitSystem.AddressFamily
@_exported public import enum ToolkitSystem.ListenError
@_exported public import struct ToolkitSystem.PeerCertificate
@_exported public import enum ToolkitSystem.SocketAddress
@_exported public import struct ToolkitSystem.StopSignal
@_exported public import struct ToolkitSystem.SystemError
@_exported public import struct ToolkitSystem.TLSInfo
