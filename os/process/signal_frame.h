// A signal handler's frame on a program's stack: x86_64's, or none where there are no programs.
#pragma once

#if __STDC_HOSTED__
#include "os/arch/hosted/signal_frame.h"
#else
#include "os/arch/x86_64/signal_frame.h"
#endif
