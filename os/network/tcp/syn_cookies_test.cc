#include "os/network/tcp/syn_cookies.h"

#include "os/network/tcp/tcp_table_fixture.h"

namespace ingot::os::network {
namespace {

class SynCookiesTest : public TcpTableFixture {
 protected:
  // The client's answer to a cookie.
  std::optional<Segment> check(const Flow& flow, const Segment& opening, SequenceNumber cookie, Nanoseconds now) const {
    Segment acknowledgment = make_segment(TcpHeader::ack, opening.sequence.value() + 1, cookie.value() + 1);
    acknowledgment.has_timestamp = opening.has_timestamp;
    acknowledgment.echo = SynCookies::hide_options(12'345, opening) + offset;
    return cookies_.check(flow, acknowledgment, offset, now);
  }
  // From addresses that are not his.
  void flood(int count) {
    for (int i = 0; i < count; ++i) {
      const auto number = static_cast<std::uint32_t>(machine_.random());
      const IpAddress from = IpAddress::v4(10, static_cast<std::uint8_t>(number >> 8),
                                           static_cast<std::uint8_t>(number >> 16), static_cast<std::uint8_t>(number));
      arrive({from, static_cast<std::uint16_t>(machine_.random())}, make_syn(number));
      server_.internet.sent.clear();
    }
  }

  static constexpr std::uint32_t offset = 0x89ab'cdef;
  static constexpr Flow flow_{server_end, {client_address, 1000}};
  SynCookies cookies_{machine_};
};

TEST_F(SynCookiesTest, BringBackWhatTheSynSaid) {
  for (const std::uint16_t size : {0, 100, 536, 1000, 1220, 1300, 1459, 1460, 8960, 65'495}) {
    for (int scale = -1; scale <= 14; ++scale) {
      Segment opening = make_syn(machine_.random());
      opening.maximum_segment = size;
      opening.has_timestamp = true;
      opening.may_select = scale % 2 == 0;
      if (scale >= 0) opening.scale = static_cast<std::uint8_t>(scale);
      const std::optional<Segment> known =
          check(flow_, opening, cookies_.make(flow_, opening, machine_.time), machine_.time);
      ASSERT_TRUE(known.has_value());
      EXPECT_EQ(known->sequence, opening.sequence);
      EXPECT_EQ(known->scale, opening.scale);
      EXPECT_EQ(known->may_select, opening.may_select);
      EXPECT_LE(known->maximum_segment, std::max<unsigned>(256, size == 0 ? 536 : size));
      EXPECT_GE(known->maximum_segment * 2, std::min<unsigned>(size, 8960));
    }
  }
}

TEST_F(SynCookiesTest, AreGoodForTwoMinutesAndThisFlowOnly) {
  const Segment opening = make_syn(77);
  const Nanoseconds begin = seconds(64 * 100);
  const SequenceNumber cookie = cookies_.make(flow_, opening, begin);
  EXPECT_TRUE(check(flow_, opening, cookie, begin + seconds(127)).has_value());
  EXPECT_FALSE(check(flow_, opening, cookie, begin + seconds(128)).has_value());
  EXPECT_FALSE(check(flow_, opening, cookie, begin + seconds(64 * 32)).has_value()) << "when its number comes again";
  EXPECT_FALSE(check(flow_, opening, cookie + 1, begin).has_value());
  EXPECT_FALSE(check(flow_, make_syn(78), cookie, begin).has_value());
  Flow other = flow_;
  other.remote.port = 1001;
  EXPECT_FALSE(check(other, opening, cookie, begin).has_value());
  EXPECT_FALSE(
      SynCookies(machine_).check(flow_, make_segment(TcpHeader::ack, 78, cookie.value() + 1), 0, begin).has_value())
      << "another machine's";
  int forged = 0;
  for (int i = 0; i < 100'000; ++i) {
    forged += check(flow_, opening, SequenceNumber(static_cast<std::uint32_t>(machine_.random())), begin).has_value();
  }
  EXPECT_EQ(forged, 0);
}

TEST_F(SynCookiesTest, HiddenOptionsNeverMakeATimestampLater) {
  Segment opening = make_syn(1);
  for (std::uint32_t timestamp = 1000; timestamp < 1200; ++timestamp) {
    for (int scale = 0; scale <= 14; ++scale) {
      opening.scale = static_cast<std::uint8_t>(scale);
      const std::uint32_t with_options = SynCookies::hide_options(timestamp, opening);
      EXPECT_TRUE(with_options <= timestamp && timestamp - with_options < 64);
    }
  }
}

TEST_F(SynCookiesTest, AFloodCostsNoMemoryAndNoClient) {
  Owned<TcpListener> listener = listen(128);
  flood(100'000);
  EXPECT_LE(server_.tcp.handshake_count(), 129u);
  EXPECT_LT(machine_.heap.statistics().peak_bytes, 100'000u);
  EXPECT_GT(server_.tcp.table_counters().cookies_sent, 99'000u);
  for (int i = 0; i < 50; ++i) {
    flood(100);
    const Reference<TcpConnection> client = connect().value();
    exchange();
    ASSERT_EQ(client->state(), TcpState::established);
    const Reference<TcpConnection> served = std::move(listener->accept()).value();
    const TcpInfo info = served->info(machine_.time);
    EXPECT_TRUE(info.has_timestamps && info.has_selective && info.has_scaling);
    EXPECT_EQ(info.send_scale, client->info(machine_.time).receive_scale);
    EXPECT_EQ(send(*client, "still served"), 12);
    client_.tcp.send_pending(machine_.time);
    exchange();
    EXPECT_EQ(receive(*served), "still served");
    client->close(machine_.time);
    served->close(machine_.time);
    exchange();
  }
  EXPECT_EQ(server_.tcp.table_counters().cookies_received, 50u);
}

TEST_F(SynCookiesTest, ListenersTogetherKeepNoMoreThanTheBound) {
  Owned<TcpListener> listener = listen(4000);
  flood(5000);
  EXPECT_EQ(server_.tcp.handshake_count(), server_.settings.most_handshakes);
}

TEST_F(SynCookiesTest, WithoutTimestampsNothingIsOfferedThatCouldNotComeBack) {
  Owned<TcpListener> listener = listen(0);
  flood(2);
  Segment opening = make_syn(5);
  opening.scale = 7;
  opening.may_select = true;
  arrive({client_address, 1000}, opening);
  const Segment answered = answer().value();
  EXPECT_FALSE(answered.scale.has_value() || answered.may_select || answered.has_timestamp);
  EXPECT_EQ(answered.maximum_segment, 1460);
  advance(seconds(30));
  server_.internet.sent.clear();
  arrive({client_address, 1000}, make_segment(TcpHeader::ack, 6, answered.sequence.value() + 1));
  EXPECT_EQ(listener->waiting_count(), 1u);
}

TEST_F(SynCookiesTest, ForgedAndLateOnesAreReset) {
  Owned<TcpListener> listener = listen(0);
  arrive({client_address, 999}, make_segment(TcpHeader::ack, 1, 1));
  EXPECT_EQ(server_.tcp.table_counters().cookies_refused, 0u) << "none was given out: it is not looked at";
  flood(2);
  server_.internet.sent.clear();
  arrive({client_address, 1000}, make_syn(5));
  const Segment answered = answer().value();
  arrive({client_address, 1001}, make_segment(TcpHeader::ack, 6, answered.sequence.value() + 1));
  EXPECT_EQ(answer().value().flags, TcpHeader::rst) << "another's";
  EXPECT_EQ(server_.tcp.table_counters().cookies_refused, 1u);
  advance(seconds(130));
  server_.internet.sent.clear();
  arrive({client_address, 1000}, make_segment(TcpHeader::ack, 6, answered.sequence.value() + 1));
  EXPECT_EQ(answer().value().flags, TcpHeader::rst) << "too late";
  EXPECT_EQ(server_.tcp.connection_count(), 0u);
}

}  // namespace
}  // namespace ingot::os::network
