#include "os/process/grants.h"

namespace ingot::os {

namespace {

Error refusal(const ManifestEntry& entry, std::span<const ProgramDevice> offered) {
  FixedText<200> names;
  for (const ProgramDevice& device : offered) names.append_all(", ", device.name);
  return Error::of(ErrorCode::not_found, "manifest, line ", entry.line,
                   ": expected a grant of one of: ", writable_code_right, names.view(), "; found '",
                   entry.text.spelled(), "', which this machine does not have");
}

}  // namespace

Result<Grants> read_grants(const Manifest& manifest, std::span<const ProgramDevice> offered) {
  Grants grants;
  ManifestReader entries = manifest.entries();
  while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
    if (entry->key != ManifestKey::grant) continue;
    if (entry->text == writable_code_right) {
      grants.writable_code = WritableCode::granted;
      continue;
    }
    bool found = false;
    for (const ProgramDevice& device : offered) {
      if (!(entry->text == device.name)) continue;
      found = true;
      for (const ProgramDevice& other : grants.devices.all()) {
        if (other.name == device.name) {
          return Error::of(ErrorCode::corrupt, "manifest, line ", entry->line, ": expected '", device.name,
                           "' to be granted once, found it again");
        }
      }
      if (!grants.devices.add(device)) return refusal(*entry, offered);
    }
    if (!found) return refusal(*entry, offered);
  }
  return grants;
}

}  // namespace ingot::os
