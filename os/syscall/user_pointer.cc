#include "os/syscall/user_pointer.h"

namespace ingot::os {

// Page by page: the text may end at the last byte that the program has.
Answer<std::size_t> UserText::read(std::span<char> to) const {
  for (std::size_t done = 0; done < to.size();) {
    const VirtualAddress from = address + done;
    const std::uint64_t rest_of_page = page_bytes - from.value() % page_bytes;
    const std::size_t bytes = rest_of_page < to.size() - done ? rest_of_page : to.size() - done;
    if (!copy_from_user(to.data() + done, from, bytes).ok()) return Errno::efault;
    for (const std::size_t end = done + bytes; done < end; ++done) {
      if (to[done] == '\0') return done;
    }
  }
  return Errno::enametoolong;
}

}  // namespace ingot::os
