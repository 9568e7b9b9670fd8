// The page-table format of the machine this kernel is built for. So far there is one; being data, it serves tests on
// every host.
#pragma once

#include "os/arch/x86_64/page_table_format.h"
#include "os/memory/page_table.h"

namespace ingot::os {

using NativePageTable = PageTable<x86_64::PageTableFormat>;

}  // namespace ingot::os
