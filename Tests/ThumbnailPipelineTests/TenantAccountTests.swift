import CLinux
import Coordination
import HTTPTypes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Limits and usage of one tenant.
struct TenantAccountTests {
    private let time = ManualTimekeeper()

    private func account(_ change: (inout TenantAccount.Limits) -> Void = { _ in }) -> TenantAccount {
        let account = TenantAccount("shop", timekeeper: time)
        var limits = TenantAccount.Limits()
        change(&limits)
        account.setLimits(limits)
        return account
    }

    @Test func `work waits in the flow of its tenant, or else of its client`() {
        let shop = RequestBill(to: TenantAccount("shop", number: 3, timekeeper: time))
        for client in (0..<64).map({ ClientNetwork(bits: $0) }) {
            #expect(Job.flow(of: client, bill: shop) == .tenant(3))
            #expect(Job.flow(of: client, bill: nil) == .client(client.hashValue))
        }
    }

    @Test func `requests above the rate are rejected until tokens come back`() throws {
        let account = account { $0.rate = Quota(2, per: .seconds(1)) }
        for _ in 0..<2 { #expect(account.rejection() == nil) }
        let response = try #require(account.rejection()).response
        #expect(response.status == .tooManyRequests && response.code == .rateLimited && response.retryAfter == 1)
        #expect(response.rateLimit == .init(current: "\"rate\";r=0;t=1", policy: "\"rate\";q=2;w=1"))
        time.advance(by: .seconds(1))
        #expect(account.rejection() == nil)
    }

    @Test func `work above a quota is rejected until it leaves the window`() throws {
        let account = account {
            $0.processorTime = Quota(30_000_000_000, per: .seconds(60))
            $0.originBytes = Quota(1_000, per: .seconds(120))
        }
        let bill = RequestBill(to: account)
        bill.charge(processor: .seconds(29))
        #expect(bill.workRejection == nil && account.rejection() == nil)
        bill.charge(processor: .seconds(1))
        let response = try #require(bill.workRejection).response
        #expect(response.status == .tooManyRequests && response.code == .quotaExceeded && response.retryAfter == 60)
        #expect(response.rateLimit?.policy == "\"processorTime\";q=30;w=60")
        #expect(account.rejection() == nil, "hits go on")
        time.advance(by: .seconds(60))
        #expect(bill.workRejection == nil)
        bill.charge(originBytes: 1_000)
        #expect(bill.workRejection?.response.rateLimit?.current == "\"originBytes\";r=0;t=120")
        #expect(bill.originBytes == 1_000 && bill.processorTime == .seconds(30))
    }

    @Test func `a reload keeps the use of limits that stay`() {
        let account = account { $0.rate = Quota(1, per: .seconds(1)) }
        #expect(account.rejection() == nil && account.rejection() != nil)
        var limits = TenantAccount.Limits()
        limits.rate = Quota(1, per: .seconds(1))
        limits.originBytes = Quota(1, per: .seconds(1))
        account.setLimits(limits)
        #expect(account.rejection() != nil)
        limits.rate = nil
        account.setLimits(limits)
        #expect(account.rejection() == nil)
    }

    @Test func `use is listed since the start, and for a minute, an hour and a day`() {
        let account = account()
        account.record(cache: .hit, code: nil, sentBytes: 10)
        account.charge(processor: .seconds(2), originBytes: 5)
        time.advance(by: .seconds(61))
        account.record(cache: nil, code: .badURL, sentBytes: 1)
        let history = account.history
        #expect(history.total.requests == [.hit: 1, nil: 1] && history.total.refusals == [.badURL: 1])
        #expect(history.windows.map(\.name) == ["1m", "1h", "24h"])
        #expect(history.windows.map(\.use.sentBytes) == [1, 11, 11])
        #expect(history.windows.map(\.use.processor) == [.zero, .seconds(2), .seconds(2)])
        time.advance(by: .seconds(86_400 + 7_200))
        #expect(account.history.windows.map(\.use.sentBytes) == [0, 0, 0])
        #expect(account.history.total.sentBytes == 11 && account.history.total.originBytes == 5)
    }

    @Test(.unlessSanitized("it replaces the allocator"))
    func `a thousand tenants that were active all day take less than five megabytes`() {
        let before = CLinux_allocated_bytes()
        let accounts = (0..<1_000).map { number in
            account {
                $0.rate = Quota(100_000, per: .seconds(1))
                $0.processorTime = Quota(1_000_000_000, per: .seconds(3_600))
                $0.originBytes = Quota(1_000_000_000, per: .seconds(86_400))
            }
        }
        for slice in [7_200, 300, 5] {
            for _ in 0..<12 {
                time.advance(by: .seconds(slice))
                for account in accounts {
                    account.record(cache: .hit, code: nil, sentBytes: 1)
                    account.charge(processor: .nanoseconds(1), originBytes: 1)
                }
            }
        }
        let bytes = CLinux_allocated_bytes() - before
        #expect(bytes < 5_000_000)
        #expect(accounts[0].history.windows.map(\.use.originBytes) == [12, 24, 36])
    }

    @Test func `metrics list each tenant`() {
        let registry = MetricsRegistry()
        let accounts = TenantAccounts(registry: registry, timekeeper: time)
        let account = accounts.account(of: "shop", limits: TenantAccount.Limits())
        #expect(accounts.account(of: "shop", limits: TenantAccount.Limits()) === account)
        account.record(cache: .miss, code: nil, sentBytes: 7)
        account.charge(processor: .milliseconds(1_500))
        let text = registry.prometheusText
        #expect(text.contains(#"alula_tenant_requests_total{tenant="shop",cache="miss"} 1"#))
        #expect(text.contains(#"alula_tenant_processor_seconds_total{tenant="shop"} 1.5"#))
        #expect(text.contains(#"alula_tenant_sent_bytes_total{tenant="shop"} 7"#))
    }
}
