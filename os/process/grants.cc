#include "os/process/grants.h"

namespace ingot::os {

namespace {

struct Offers {
  std::span<const ProgramDevice> devices;
  std::span<const SocketFamily> families;
};

Error refusal(const ManifestEntry& entry, const Offers& offered) {
  FixedText<200> names;
  for (const ProgramDevice& device : offered.devices) names.append_all(", ", device.name);
  std::string_view last;
  for (const SocketFamily& family : offered.families) {
    if (std::exchange(last, family.right) != family.right) names.append_all(", ", family.right);
  }
  return Error::of(ErrorCode::not_found, "manifest, line ", entry.line,
                   ": expected a grant of one of: ", writable_code_right, names.view(), "; found '",
                   entry.text.spelled(), "', which this machine does not have");
}

bool is_granted(const EscapedText& right, const Grants& grants) {
  bool found = false;
  for (const ProgramDevice& device : grants.devices.all()) found = found || right == device.name;
  for (const SocketFamily& family : grants.families.all()) found = found || right == family.right;
  return found;
}

}  // namespace

Result<Grants> read_grants(const Manifest& manifest, std::span<const ProgramDevice> devices,
                           std::span<const SocketFamily> families) {
  Grants grants;
  ManifestReader entries = manifest.entries();
  while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
    if (entry->key != ManifestKey::grant) continue;
    const EscapedText& right = entry->text;
    if (right == writable_code_right) {
      grants.writable_code = WritableCode::granted;
      continue;
    }
    if (is_granted(right, grants)) {
      return Error::of(ErrorCode::corrupt, "manifest, line ", entry->line, ": expected '", right.spelled(),
                       "' to be granted once, found it again");
    }
    // As many as are offered have room.
    for (const ProgramDevice& device : devices) static_cast<void>(right == device.name && grants.devices.add(device));
    for (const SocketFamily& family : families) static_cast<void>(right == family.right && grants.families.add(family));
    if (!is_granted(right, grants)) return refusal(*entry, {devices, families});
  }
  return grants;
}

}  // namespace ingot::os
