# Writes OUTPUT, a header that names the commit of SOURCE, where that changed: then one small source is compiled again,
# and whatever else was compiled stays as it is. Outside of a checkout the commit is not known, and nothing says one.
find_program(GIT git)
set(COMMIT "")
if(GIT AND EXISTS ${SOURCE}/.git)
  # Without locks: whoever works in the checkout meanwhile must not find it locked.
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#pragma once

#define INGOT_COMMIT "@COMMIT@"
]])
