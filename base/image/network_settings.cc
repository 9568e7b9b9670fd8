#include "base/image/network_settings.h"

namespace ingot {

namespace {

using Source = AddressSettings::Source;

std::optional<unsigned> parse_digits(std::string_view text, unsigned base, std::size_t most_digits) {
  if (text.empty() || text.size() > most_digits) return {};
  unsigned number = 0;
  for (const char letter : text) {
    unsigned digit = base;
    if (letter >= '0' && letter <= '9') digit = static_cast<unsigned>(letter - '0');
    if (letter >= 'a' && letter <= 'f') digit = static_cast<unsigned>(letter - 'a') + 10;
    if (letter >= 'A' && letter <= 'F') digit = static_cast<unsigned>(letter - 'A') + 10;
    if (digit >= base) return {};
    number = number * base + digit;
  }
  return number;
}

// Decimal, and spelled in one way: others read a leading zero as octal.
std::optional<std::uint8_t> parse_small(std::string_view text, unsigned most) {
  if (text.size() > 1 && text.front() == '0') return {};
  const std::optional<unsigned> number = parse_digits(text, 10, 3);
  if (!number || *number > most) return {};
  return static_cast<std::uint8_t>(*number);
}

// What stands before the separator; that and the separator are taken off.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

std::optional<InternetAddress> parse_version_4(std::string_view text) {
  InternetAddress address;
  while (address.count < InternetAddress::bytes_of_version_4) {
    const bool is_last = address.count == InternetAddress::bytes_of_version_4 - 1;
    if (!is_last && text.find('.') == std::string_view::npos) return {};
    const std::optional<std::uint8_t> byte = parse_small(is_last ? text : take_until(text, '.'), 255);
    if (!byte) return {};
    address.bytes[address.count++] = *byte;
  }
  return address;
}

// Groups of four digits up to the end of the text into `bytes`. Returns how many bytes that are.
std::optional<std::size_t> parse_groups(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.empty()) return 0;
  for (std::size_t at = 0;; at += 2) {
    const bool is_last = text.find(':') == std::string_view::npos;
    const std::optional<unsigned> group = parse_digits(take_until(text, ':'), 16, 4);
    if (!group || at + 2 > bytes.size()) return {};
    bytes[at] = static_cast<std::uint8_t>(*group >> 8);
    bytes[at + 1] = static_cast<std::uint8_t>(*group & 0xff);
    if (is_last) return at + 2;
  }
}

std::optional<InternetAddress> parse_version_6(std::string_view text) {
  InternetAddress address;
  address.count = InternetAddress::bytes_of_version_6;
  const std::size_t gap = text.find("::");
  const std::optional<std::size_t> before = parse_groups(text.substr(0, gap), address.bytes);
  if (!before) return {};
  if (gap == std::string_view::npos) return *before == address.count ? std::optional(address) : std::nullopt;
  text.remove_prefix(gap + 2);
  std::array<std::uint8_t, InternetAddress::bytes_of_version_6> last{};
  const std::optional<std::size_t> behind = parse_groups(text, last);
  // The gap stands for one group at least.
  if (!behind || *before + *behind > address.count - 2u) return {};
  for (std::size_t i = 0; i < *behind; ++i) address.bytes[address.count - *behind + i] = last[i];
  return address;
}

// Bits beyond the prefix, of both addresses, are left out.
bool same_network(const InternetAddress& one, const InternetAddress& other, unsigned prefix) {
  for (std::size_t i = 0; i < one.count && prefix > 8 * i; ++i) {
    const unsigned bits = prefix - 8 * i < 8 ? prefix - static_cast<unsigned>(8 * i) : 8;
    if ((one.bytes[i] ^ other.bytes[i]) >> (8 - bits) != 0) return false;
  }
  return one.count == other.count;
}

// Whether all bits beyond the prefix are equal to `bit`.
bool ends_in(const InternetAddress& address, unsigned prefix, unsigned bit) {
  for (unsigned at = prefix; at < 8u * address.count; ++at) {
    if ((address.bytes[at / 8] >> (7 - at % 8) & 1u) != bit) return false;
  }
  return true;
}

// The first and the last address of a network of IPv4 are its own name and everybody's, unless it has but two.
bool is_of_the_network(const InternetAddress& address, unsigned prefix) {
  return address.is_version_4() && prefix < 31 && (ends_in(address, prefix, 0) || ends_in(address, prefix, 1));
}

// An address that one machine can have: neither nobody's, nor this machine's to itself, nor many machines'.
bool names_one_machine(const InternetAddress& address) {
  const auto& bytes = address.bytes;
  if (address.is_version_4()) return bytes[0] != 0 && bytes[0] != 127 && bytes[0] < 224;
  bool starts_with_zeros = true;
  for (std::size_t i = 0; i < 10; ++i) starts_with_zeros = starts_with_zeros && bytes[i] == 0;
  return bytes[0] != 0xff && !starts_with_zeros;  // the rest with zeros: ::, ::1, and spellings of IPv4
}

// What was expected in place of it; empty: nothing else.
std::string_view read_fixed(std::string_view text, AddressSettings& settings) {
  std::string_view place = take_until(text, ',');
  const auto address = parse_internet_address(take_until(place, '/'));
  if (!address || !names_one_machine(*address)) return "an address that one machine can have";
  const unsigned all_bits = 8u * address->count;
  const auto prefix = parse_small(place, all_bits);
  if (!prefix || *prefix == 0) return "/ and the bits of the prefix behind the address";
  if (is_of_the_network(*address, *prefix))
    return "an address that is neither its network's name nor meant for all in it";
  const auto gateway = parse_internet_address(take_until(text, ','));
  if (!gateway || gateway->count != address->count || *gateway == *address || !names_one_machine(*gateway) ||
      is_of_the_network(*gateway, *prefix) ||
      (!same_network(*address, *gateway, *prefix) && !is_of_this_link(*gateway))) {
    return "a gateway behind a comma, another machine of the same network";
  }
  settings = {.source = Source::fixed,
              .prefix = *prefix,
              .name_server_count = 0,
              .address = *address,
              .gateway = *gateway,
              .name_servers = {}};
  while (!text.empty()) {
    const auto server = parse_internet_address(take_until(text, ','));
    if (!server || *server == InternetAddress{.bytes = {}, .count = server->count} ||
        settings.name_server_count == AddressSettings::most_name_servers) {
      return "at most 3 addresses of name servers behind the gateway";
    }
    settings.name_servers[settings.name_server_count++] = *server;
  }
  return {};
}

}  // namespace

bool is_of_this_link(const InternetAddress& address) {
  return address.is_version_6() && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

std::optional<InternetAddress> parse_internet_address(std::string_view text) {
  return text.find(':') == std::string_view::npos ? parse_version_4(text) : parse_version_6(text);
}

Result<void> NetworkSettings::add(std::string_view line) {
  const auto wrong = [&](std::string_view expected) {
    return Error::of(ErrorCode::invalid_argument, "expected ", expected, ", found '", line.substr(0, 80),
                     "': dhcp, slaac, or ADDRESS/PREFIX,GATEWAY[,NAMESERVER...]");
  };
  AddressSettings read;
  if (line == "dhcp" || line == "slaac") {
    read.source = Source::automatic;
  } else if (line.empty() || line.back() == ',') {
    return wrong("a way to get an address");
  } else if (const std::string_view expected = read_fixed(line, read); !expected.empty()) {
    return wrong(expected);
  }
  AddressSettings& place = line == "slaac" || read.address.is_version_6() ? version_6 : version_4;
  if (place.source != Source::none) return wrong("one way to an address for each version of IP");
  place = read;
  return {};
}

Result<NetworkSettings> network_settings_of(const Manifest& manifest) {
  NetworkSettings settings;
  const bool is_granted = manifest.grants("network");
  ManifestReader entries = manifest.entries();
  while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
    if (entry->key != ManifestKey::network) continue;
    const Result<void> added = settings.add(entry->text.spelled());
    if (!added.ok()) {  // the manifest's, whoever asks: no argument of his is wrong
      return Error::of(ErrorCode::corrupt, "manifest, line ", entry->line, ": ", added.error().text());
    }
    if (!is_granted) {
      return Error::of(ErrorCode::corrupt, "manifest, line ", entry->line,
                       ": expected 'grant network' beside 'network', found none");
    }
  }
  return settings;
}

}  // namespace ingot
