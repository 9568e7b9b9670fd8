// Files for tests, made byte by byte: kernels and programs, and a folder to put them into.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/image/grant_note.h"
#include "base/image/image_table.h"
#include "image/bytes.h"
#include "image/elf_file.h"
#include "image/fake_tar.h"
#include "image/process.h"

namespace ingot::image {

inline void append_segment(std::string& file, std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
                           std::uint64_t address, std::uint64_t bytes) {
  append_number(file, type);
  append_number(file, flags);
  for (const std::uint64_t field : {offset, address, address, bytes, bytes, std::uint64_t{4096}}) {
    append_number(file, field);
  }
}

inline std::string elf_header(std::uint16_t machine, std::uint16_t segments, std::uint64_t entry) {
  std::string header("\177ELF\2\1\1", 7);
  header.resize(16);
  append_number<std::uint16_t>(header, 2);
  append_number(header, machine);
  append_number<std::uint32_t>(header, 1);
  append_number(header, entry);
  append_number<std::uint64_t>(header, elf_header_bytes);
  append_number<std::uint64_t>(header, 0);
  append_number<std::uint32_t>(header, 0);
  append_number(header, static_cast<std::uint16_t>(elf_header_bytes));
  append_number(header, static_cast<std::uint16_t>(elf_segment_bytes));
  append_number(header, segments);
  header.resize(elf_header_bytes);
  return header;
}

// A kernel of 8 KiB at 1 MiB: a page that would be code, and data with the table; `tables` of them. Behind the note
// that has its entry those of what it grants; `more` bytes make it larger.
inline std::string fake_kernel(int tables = 1, const std::vector<GrantNote>& grants = {}, std::size_t more = 0) {
  std::string file = elf_header(elf_x86_64, 3, 0x100000);
  append_segment(file, ElfSegment::load, 5, 0x1000, 0x100000, 0x1000);
  append_segment(file, ElfSegment::load, 6, 0x2000, 0x101000, 0x1000 + more);
  append_segment(file, ElfSegment::note, 4, 0x1800, 0x100800, 24 + grants.size() * sizeof(GrantNote));
  file.resize(0x3000 + more, '\x90');
  std::string note;
  for (const std::uint32_t word : {4u, 8u, 18u}) append_number(note, word);
  note += std::string_view("Xen\0", 4);
  append_number<std::uint64_t>(note, 0x100000);
  for (const GrantNote& grant : grants) note += std::string_view(reinterpret_cast<const char*>(&grant), sizeof grant);
  file.replace(0x1800, note.size(), note);
  for (int index = 0; index < tables; ++index) {
    const ImageTable table;
    file.replace(0x2100 + 0x400 * static_cast<std::size_t>(index), sizeof table,
                 std::string(reinterpret_cast<const char*>(&table), sizeof table));
  }
  return file + "section headers, which no loader reads";
}

// A static program whose code is `code`, padded to `bytes`.
inline std::string fake_program(std::string_view code = "\xb8\x3c\0\0\0\x0f\x05", std::size_t bytes = 0,
                                std::uint16_t machine = elf_x86_64) {
  std::string file = elf_header(machine, 1, 0x400078);
  append_segment(file, ElfSegment::load, 5, 0, 0x400000, elf_header_bytes + elf_segment_bytes + code.size());
  file += code;
  if (file.size() < bytes) file.resize(bytes, 'p');
  return file;
}

struct DynamicParts {
  std::string interpreter{};  // empty: a library
  std::vector<std::string> needed{}, imports{};
  std::string run_path{}, rpath{};
};

// A dynamic program or library, all of it one segment: strings, symbols that are imported, the dynamic section.
inline std::string fake_dynamic(const DynamicParts& parts) {
  constexpr std::size_t front = elf_header_bytes + 3 * elf_segment_bytes;
  std::string strings(1, '\0'), symbols(24, '\0'), entries;
  const auto text = [&](const std::string& letters) {
    const std::uint64_t at = strings.size();
    strings += letters + '\0';
    return at;
  };
  const auto entry = [&](std::uint64_t tag, std::uint64_t value) {
    append_number(entries, tag);
    append_number(entries, value);
  };
  for (const std::string& library : parts.needed) entry(1, text(library));
  if (!parts.run_path.empty()) entry(29, text(parts.run_path));
  if (!parts.rpath.empty()) entry(15, text(parts.rpath));
  for (const std::string& name : parts.imports) {
    append_number(symbols, static_cast<std::uint32_t>(text(name)));
    symbols.resize(symbols.size() + 20);
  }
  const std::uint64_t interpreter = text(parts.interpreter);
  std::string hash;
  append_number<std::uint32_t>(hash, 1);
  append_number(hash, static_cast<std::uint32_t>(parts.imports.size() + 1));
  entry(5, front);
  entry(6, front + strings.size());
  entry(0x6ffffef5, front + strings.size() + symbols.size());
  entry(0, 0);
  const std::uint64_t dynamic = front + strings.size() + symbols.size() + hash.size();
  std::string file = elf_header(elf_x86_64, 3, 0x1000);
  file[16] = 3;
  append_segment(file, ElfSegment::load, 4, 0, 0, dynamic + entries.size());
  append_segment(file, ElfSegment::dynamic, 4, dynamic, dynamic, entries.size());
  append_segment(file, parts.interpreter.empty() ? ElfSegment::note : ElfSegment::interpreter, 4, front + interpreter,
                 front + interpreter, parts.interpreter.size() + 1);
  return file + strings + symbols + hash + entries;
}

class TestFolder {
 public:
  TestFolder() : folder_(TemporaryFolder::create().value()) {}

  std::string path(const std::string& name) const { return folder_.path() + '/' + name; }
  std::string put(const std::string& name, std::string_view content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace ingot::image
