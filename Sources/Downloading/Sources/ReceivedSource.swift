import Crypto
import HTTPTypes
package import Memory
import Text

package struct ReceivedSource: Sendable {
    package let head: SourceHead
    package let bytes: SharedBytes
    package var timings = TransferTimings()
    /// Codings that must still be decoded; empty outside the loader.
    var codings: [ContentCoding] = []

    package var identity: SourceIdentity { head.identity }
    package var validator: SourceValidator { head.validator }
}
