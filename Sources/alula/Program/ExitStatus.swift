/// The exit statuses of the program, those of `sysexits.h` where it has one; docs/command-line.md has the table.
enum ExitStatus {
    /// A part of the work failed, or a service that was asked refused.
    static let failed: CInt = 1
    /// The command line is wrong, or the settings that a command needs are.
    static let wrongUse: CInt = 2
    /// The service cannot start, or the part of it that a command needs.
    static let cannotStart: CInt = 69
    /// The settings of the service are wrong.
    static let wrongSettings: CInt = 78
}
