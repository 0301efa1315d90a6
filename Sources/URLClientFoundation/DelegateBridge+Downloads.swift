#if FoundationNetworking
    internal import Foundation
    internal import URLClient

    // The calls to delegates of downloads.
    extension DelegateBridge {
        func task(_ core: DownloadTask, didResumeAt offset: Int64, expectedLength: Int64?) {
            typealias Kind = any ClientURLSessionDownloadDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let download = task as? ClientURLSessionDownloadTask
            else { return }
            _ = task.newlyWritten(offset)
            call {
                delegate.urlSession(
                    session, downloadTask: download, didResumeAtOffset: offset,
                    expectedTotalBytes: expectedLength ?? -1)
            }
        }

        func task(_ core: DownloadTask, didWrite progress: TransferProgress) {
            guard let (_, shown) = known(core) else { return }
            shown.showProgress()
            typealias Kind = any ClientURLSessionDownloadDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let download = task as? ClientURLSessionDownloadTask
            else { return }
            let count = task.newlyWritten(progress.received)
            guard count > 0 else { return }
            call {
                delegate.urlSession(
                    session, downloadTask: download, didWriteData: count,
                    totalBytesWritten: progress.received,
                    totalBytesExpectedToWrite: progress.expectedToReceive ?? -1)
            }
        }

        func task(_ core: DownloadTask, didFinishDownloadingTo path: String) {
            typealias Kind = any ClientURLSessionDownloadDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let download = task as? ClientURLSessionDownloadTask
            else { return }
            let file = URL(fileURLWithPath: path)
            call {
                delegate.urlSession(
                    session, downloadTask: download, didFinishDownloadingTo: file)
            }
        }
    }
#endif
