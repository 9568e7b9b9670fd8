// TextFile: a file whose content is written when it is opened, and then stays for that description: /proc, /sys.
#pragma once

#include "os/file/memory_directory.h"
#include "os/file/synthetic/text_writer.h"

namespace ingot::os {

// Whom the text is about, as the writer understands it: a process, or the machine and one of its CPUs.
struct TextSubject {
  void* object = nullptr;
  std::uint32_t number = 0;
};
using TextFunction = void (*)(TextWriter& text, const TextSubject& subject);

// It answers size 0, as /proc does: what it will be is known only once it is written.
Answer<Reference<Node>> make_text_file(Reference<Volume> volume, TextFunction write, TextSubject subject,
                                       std::uint32_t permissions);

// For a device whose content is made in the same way; like the files it can only be read.
Answer<Reference<FileDescription>> open_text(Node& node, Allocator& heap, std::uint32_t flags, TextFunction write,
                                             const TextSubject& subject);

// A row of a table of such files, and all of a table's in one directory.
struct TextFileRow {
  std::string_view name;
  TextFunction write;
};
Answer<void> add_text_files(MemoryDirectory& directory, std::span<const TextFileRow> rows, TextSubject subject);
// A directory below another; the letters of the name stay where they are or are copied.
Answer<Reference<MemoryDirectory>> add_directory(MemoryDirectory& parent, std::string_view name,
                                                 NameStorage storage = NameStorage::borrowed);

}  // namespace ingot::os
