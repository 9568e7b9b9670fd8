// An eventfd: a number that grows when written and falls when read; readable while it is not 0.
#pragma once

#include "os/file/file_description.h"

namespace ingot::os {

enum class EventReads : std::uint8_t { all, one };  // one: as a semaphore does

Answer<Reference<FileDescription>> make_event_file(Allocator& heap, std::uint64_t count, EventReads reads,
                                                   std::uint32_t flags);

}  // namespace ingot::os
