import Text

package struct HTTPDate: Hashable, Comparable, Sendable {
    package var secondsSince1970: Int

    /// Four-digit years from 1970 on.
    package static let seconds = 0...253_402_300_799

    package init(secondsSince1970: Int) { self.secondsSince1970 = secondsSince1970 }

    package static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let parsedDays = days.map { $0.lowercased() }
    private static let parsedLongDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    private static let parsedMonths = months.map { $0.lowercased() }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
    package var imfFixdate: String {
        let civil = CivilDate(secondsSince1970: secondsSince1970)
        return "\(Self.days[civil.weekday]), \(civil.day.twoDigits) \(Self.months[civil.month - 1]) "
            + "\(Self.four(civil.year)) \(civil.hour.twoDigits):\(civil.minute.twoDigits):\(civil.second.twoDigits) GMT"
    }

    /// `19941106T084937Z` (ISO 8601, basic format).
    package var basicISO8601: String {
        let civil = CivilDate(secondsSince1970: secondsSince1970)
        return Self.four(civil.year) + civil.month.twoDigits + civil.day.twoDigits + "T" + civil.hour.twoDigits
            + civil.minute.twoDigits + civil.second.twoDigits + "Z"
    }

    private static func four(_ number: Int) -> String { (number / 100).twoDigits + (number % 100).twoDigits }

    /// The three forms of RFC 9110 section 5.6.7: IMF-fixdate, RFC 850 and asctime.
    ///
    /// A two-digit year more than 50 years after `now` belongs to the previous century, as the section requires. Case
    /// does not matter (RFC 9111 section 4.2). The number of spaces matters, except before asctime's day.
    package init?(_ text: String, now: HTTPDate = HTTPDate(secondsSince1970: 1_767_225_600)) {
        guard let written = WrittenDate(text.asciiLowercased) else { return nil }
        let clock = written.time.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, clock.allSatisfy({ $0.utf8.count == 2 }),
            let month = Self.parsedMonths.firstIndex(of: written.month), let day = Self.digits(written.day),
            var year = Self.digits(written.year), let hour = Self.digits(clock[0]),
            let minute = Self.digits(clock[1]), let second = Self.digits(clock[2])
        else { return nil }
        if written.year.utf8.count == 2 {
            let thisYear = CivilDate(secondsSince1970: now.secondsSince1970).year
            year += thisYear - thisYear % 100
            if year > thisYear + 50 { year -= 100 }
        }
        let civil = CivilDate(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
        guard civil.isValid else { return nil }
        self.init(secondsSince1970: civil.secondsSince1970)
    }

    /// The fields of a date in lowercase.
    private struct WrittenDate {
        let day: String
        let month: String
        let year: String
        let time: String

        init?(_ text: String) {
            let words = text.split(separator: " ").map(String.init)
            // Only asctime pads the day with a second space.
            guard let first = words.first, words.count == 5 || !text.contains("  ") else { return nil }
            if words.count == 6, first.hasSuffix(","), parsedDays.contains(String(first.dropLast())),
                words[1].utf8.count == 2, words[3].utf8.count == 4, words[5] == "gmt"
            {
                day = words[1]
                month = words[2]
                year = words[3]
                time = words[4]
            } else if words.count == 4, first.hasSuffix(","), parsedLongDays.contains(String(first.dropLast())),
                words[3] == "gmt"
            {
                let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
                guard date.count == 3, date[0].utf8.count == 2, date[2].utf8.count == 2 else { return nil }
                day = date[0]
                month = date[1]
                year = date[2]
                time = words[2]
            } else if words.count == 5, parsedDays.contains(first), words[4].utf8.count == 4 {
                day = words[2]
                month = words[1]
                year = words[4]
                time = words[3]
            } else {
                return nil
            }
        }
    }

    /// Reads text such as `2026-11-24T18:00:00Z`; truncates fractions of a second; `+00:00` is equivalent to `Z`.
    package init?(iso8601 text: String) {
        var text = text[...]
        guard let zone = ["Z", "+00:00"].first(where: { text.hasSuffix($0) }) else { return nil }
        text.removeLast(zone.utf8.count)
        let halves = text.split(separator: "T", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let time = halves[1].prefix(before: UInt8(ascii: "."))
        if let fraction = halves[1].suffix(after: UInt8(ascii: ".")), fraction.isEmpty || Self.digits(fraction) == nil {
            return nil
        }
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard date.map(\.utf8.count) == [4, 2, 2], clock.map(\.utf8.count) == [2, 2, 2],
            let year = Self.digits(date[0]), let month = Self.digits(date[1]), let day = Self.digits(date[2]),
            let hour = Self.digits(clock[0]), let minute = Self.digits(clock[1]), let second = Self.digits(clock[2])
        else { return nil }
        let civil = CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard civil.isValid else { return nil }
        self.init(secondsSince1970: civil.secondsSince1970)
    }

    private static func digits(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy(\.isASCIIDigit) ? Int(text) : nil
    }
}

/// In UTC in the proleptic Gregorian calendar.
private struct CivilDate {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// Whether the calendar has this day, and the day this time; a minute may have a leap second.
    var isValid: Bool {
        1...12 ~= month && 1...daysInMonth ~= day && 0..<24 ~= hour && 0..<60 ~= minute && 0...60 ~= second
    }

    private var daysInMonth: Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// 0 = Sunday; 1970-01-01 was a Thursday.
    var weekday: Int { ((dayNumber + 4) % 7 + 7) % 7 }
    var secondsSince1970: Int { dayNumber * 86_400 + hour * 3_600 + minute * 60 + second }

    /// Days since 1970-01-01; years start in March, so that the leap day is the last of its year.
    private var dayNumber: Int {
        let shifted = month <= 2 ? year - 1 : year
        let century = shifted >= 0 ? shifted / 400 : (shifted - 399) / 400
        let yearOfEra = shifted - century * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return century * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension CivilDate {
    init(secondsSince1970 seconds: Int) {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let shifted = days + 719_468
        let era = shifted >= 0 ? shifted / 146_097 : (shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        hour = rest / 3_600
        minute = rest % 3_600 / 60
        second = rest % 60
    }
}
