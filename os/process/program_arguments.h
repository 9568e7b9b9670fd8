// The arguments and the environment that a program begins with.
#pragma once

#include <optional>
#include <string_view>

#include "base/image/boot_arguments.h"
#include "base/image/image_manifest.h"

namespace ingot::os {

// Calls use(text) for each argument: the manifest's, then those given on the kernel's command line, or else the
// manifest's defaults. `use` answers Result<void> and takes EscapedText and EncodedArgument.
template <class Use>
Result<void> each_argument(const Manifest& manifest, std::string_view command_line, Use&& use) {
  BootArguments given(command_line);
  std::optional<EncodedArgument> argument = TRY(given.next());
  const bool replaces_defaults = argument.has_value();
  for (const ManifestKey key : {ManifestKey::argument, ManifestKey::default_argument}) {
    if (key == ManifestKey::default_argument && replaces_defaults) continue;
    ManifestReader entries = manifest.entries();
    while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
      if (entry->key == key) TRY(use(entry->text));
    }
  }
  while (argument) {
    TRY(use(*argument));
    argument = TRY(given.next());
  }
  return {};
}

template <class Use>
Result<void> each_environment(const Manifest& manifest, Use&& use) {
  ManifestReader entries = manifest.entries();
  while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
    if (entry->key == ManifestKey::environment) TRY(use(entry->text));
  }
  return {};
}

}  // namespace ingot::os
