// The manifest of a cast image: what to run, with which arguments, in how much memory, with which rights. `ingot cast`
// writes it, the kernel reads it where it lies; hence no heap here, and no copy but the caller's own.
//
//   ingot manifest 1
//   program /ingot                   a path in the image's root
//   argument ingot                   argument 0, then more; each line one argument, blanks and quotes as they are
//   default-argument run             follow the others, unless arguments are given at boot: those take their place
//   environment HOME=/
//   directory /                      where the program starts; / unless said
//   memory 268435456                 most bytes of memory the program may have; all of it unless said
//   tmpfs 16777216                   most bytes of files it may write; none unless said
//   descriptors 65536                most files it may have open; 1024 unless said, and it may ask for more
//   file 0 91234567 0644 /model      a large file: index of its segment in the ImageTable, bytes, mode, path
//   consume /model                   pages of that file that the program unmaps are given away for good
//   grant writable-executable        a right beyond the usual: this, `network`, or a device's name
//   network dhcp                     how it gets an address, with that right (base/image/network_settings.h)
//   trace syscalls                   log every system call
//   machine-memory 536870912         what `ingot boot` starts the machine with; the kernel passes over both
//   machine-cpus 2
//
// A line is a key, one blank, and a value to the end of the line, where \n stands for a newline and \\ for a backslash.
// The text ends with a newline. Unknown keys are errors: a right or a limit that is not understood is not passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace ingot {

// A value as the manifest spells it: two characters for a newline and for a backslash, else as it is.
class EscapedText {
 public:
  constexpr EscapedText() = default;
  // Precondition: every backslash is followed by n or another one, as ManifestReader has checked.
  constexpr explicit EscapedText(std::string_view spelled) : spelled_(spelled) {}

  constexpr std::string_view spelled() const { return spelled_; }
  // Calls use(character) for each one.
  template <class Use>
  constexpr void each(Use&& use) const {
    for (std::size_t i = 0; i < spelled_.size(); ++i) {
      const bool escaped = spelled_[i] == '\\' && i + 1 < spelled_.size();
      if (escaped) ++i;
      use(escaped && spelled_[i] == 'n' ? '\n' : spelled_[i]);
    }
  }
  constexpr std::size_t size() const {
    std::size_t count = 0;
    each([&](char) { ++count; });
    return count;
  }
  // Precondition: size() characters fit. No zero is added.
  constexpr void copy_to(char* place) const {
    each([&](char character) { *place++ = character; });
  }
  constexpr bool operator==(std::string_view text) const {
    bool same = true;
    std::size_t at = 0;
    each([&](char character) {
      same = same && at < text.size() && text[at] == character;
      ++at;
    });
    return same && at == text.size();
  }

 private:
  std::string_view spelled_;
};

enum class ManifestKey : std::uint8_t {
  program,
  argument,
  default_argument,
  environment,
  directory,
  memory,
  tmpfs,
  file,
  consume,
  grant,
  network,
  trace,
  machine_memory,
  machine_cpus,
  descriptors,
};
inline constexpr std::size_t manifest_key_count = 15;
// Of `descriptors`: enough to start with, and as many as the kernel counts.
inline constexpr std::uint64_t least_descriptors = 16, most_descriptors = 1 << 20;

std::string_view name_of(ManifestKey key);

// Whether it can be a right's name: a-z, 0-9 and '-', at least one of them.
bool is_right(std::string_view name);

struct ManifestEntry {
  ManifestKey key = ManifestKey::program;
  std::size_t line = 0;      // from 1
  EscapedText text;          // of a `file`: its path; of a number: nothing. Of `network` not looked at
  std::uint64_t number = 0;  // of memory, tmpfs, descriptors and machine-...; of a `file`: its bytes
  std::uint32_t index = 0;   // of a `file`: its segment
  std::uint32_t mode = 0;    // of a `file`: permission bits
};

// Line by line; each entry is checked on its own.
class ManifestReader {
 public:
  explicit ManifestReader(std::string_view text) : rest_(text) {}

  // The next entry, or nothing after the last. After an error the rest is not read.
  Result<std::optional<ManifestEntry>> next();

 private:
  std::string_view rest_;
  std::size_t line_ = 0;
};

// The whole, checked: single keys stand once, there is a program, files have distinct segments and paths, and `consume`
// names one of them.
struct Manifest {
  static Result<Manifest> parse(std::string_view text);

  // Again line by line, for what may stand several times: parse() has seen that no error comes.
  ManifestReader entries() const { return ManifestReader(text); }
  bool grants(std::string_view right) const;
  // Whether the pages of a file go for good when they are let go.
  bool consumes(EscapedText path) const;
  // The large file of this path, or nothing.
  std::optional<ManifestEntry> file(std::string_view path) const;

  std::string_view text;
  EscapedText program;
  EscapedText directory{"/"};
  std::optional<std::uint64_t> memory, tmpfs, descriptors;
  std::optional<std::uint64_t> machine_memory, machine_cpus;
  std::size_t arguments = 0, default_arguments = 0, environment = 0, files = 0;
  bool traces_system_calls = false;
};

}  // namespace ingot
