// NetworkFiles: what /proc/net tells of the stack in Linux's forms (proc(5)), and /etc/resolv.conf unless the image has
// its own; as of when they are opened.
#pragma once

#include "os/file/socket/socket_family.h"
#include "os/file/synthetic/text_file.h"
#include "os/network/socket/shared_stack.h"

namespace ingot::os::network {

class NetworkFiles final : public FamilyFiles {
 public:
  // The stack outlives who reads them.
  explicit NetworkFiles(SharedStack& stack) : stack_(stack) {}

  Answer<void> add_to(FileTree& tree, MemoryDirectory& proc) override;

 private:
  SharedStack& stack_;
};

// The rows of /proc/net; their subject is a SharedStack.
std::span<const TextFileRow> socket_tables();
std::span<const TextFileRow> interface_tables();
std::span<const TextFileRow> counter_tables();
void write_resolver(TextWriter& text, const TextSubject& subject);

inline SharedStack& stack_of(const TextSubject& subject) { return *static_cast<SharedStack*>(subject.object); }

}  // namespace ingot::os::network
