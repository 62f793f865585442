import CLinux

/// Returns the number of processors that this process may use, at least 1.
package func availableProcessorCount() -> Int { Int(CLinux_available_processors()) }

/// Unmaps code and constants, mostly used only at startup; the kernel maps them again on use.
package func releaseProgramPages() { CLinux_release_program_pages() }
