#include "os/network/tcp/syn_cookies.h"

#include <array>

namespace ingot::os::network {
namespace {

// An answer is good in the period that it was made in and in the next.
constexpr std::uint64_t period_of(Nanoseconds now) { return static_cast<std::uint64_t>(now.count()) / 64'000'000'000; }

constexpr std::array<std::uint16_t, 8> segment_sizes{256, 536, 1220, 1300, 1400, 1440, 1460, 8940};

// In the timestamp.
constexpr std::uint32_t hidden_mask = 0x3f, hidden_scale = 0xf, hidden_no_scale = 0xf, hidden_selection = 0x10;

}  // namespace

std::uint32_t SynCookies::secret_part(const Flow& flow, SequenceNumber theirs, std::uint64_t period,
                                      unsigned size_class) const {
  const struct {
    Flow flow;
    std::uint32_t sequence;
    std::uint64_t period;
    std::uint64_t size_class;
  } covered{flow, theirs.value(), period, size_class};
  static_assert(sizeof covered == sizeof(Flow) + 20);
  return siphash(key_, std::as_bytes(std::span(&covered, 1))) & 0xff'ffff;
}

SequenceNumber SynCookies::make(const Flow& flow, const Segment& syn, Nanoseconds now) const {
  unsigned size_class = 0;
  const unsigned size = syn.maximum_segment == 0 ? 536 : syn.maximum_segment;
  while (size_class + 1 < segment_sizes.size() && segment_sizes[size_class + 1] <= size) ++size_class;
  const std::uint64_t period = period_of(now);
  return SequenceNumber(static_cast<std::uint32_t>(period << 27) | size_class << 24 |
                        secret_part(flow, syn.sequence, period, size_class));
}

std::optional<Segment> SynCookies::check(const Flow& flow, const Segment& acknowledgment,
                                         std::uint32_t timestamp_offset, Nanoseconds now) const {
  const std::uint32_t cookie = acknowledgment.acknowledgment.value() - 1;
  const unsigned size_class = cookie >> 24 & 7;
  const std::uint64_t age = (period_of(now) - (cookie >> 27)) & 0x1f;
  Segment syn = acknowledgment;  // window and timestamp are near enough
  syn.flags = TcpHeader::syn;
  syn.sequence = acknowledgment.sequence - 1;
  if (age > 1 || age > period_of(now)) return {};
  if ((cookie & 0xff'ffff) != secret_part(flow, syn.sequence, period_of(now) - age, size_class)) return {};
  syn.maximum_segment = segment_sizes[size_class];
  if (!acknowledgment.has_timestamp) return syn;
  const std::uint32_t hidden = (acknowledgment.echo - timestamp_offset) & hidden_mask;
  syn.may_select = (hidden & hidden_selection) != 0;
  if ((hidden & hidden_scale) != hidden_no_scale) syn.scale = static_cast<std::uint8_t>(hidden & hidden_scale);
  return syn;
}

std::uint32_t SynCookies::hide_options(std::uint32_t timestamp, const Segment& syn) {
  const std::uint32_t hidden =
      (syn.scale.has_value() ? *syn.scale & hidden_scale : hidden_no_scale) | (syn.may_select ? hidden_selection : 0);
  const std::uint32_t with_options = (timestamp & ~hidden_mask) | hidden;
  return with_options > timestamp ? with_options - (hidden_mask + 1) : with_options;
}

}  // namespace ingot::os::network
