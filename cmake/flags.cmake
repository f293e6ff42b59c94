# How every source of the project is compiled. Floating-point contraction is off and errno is not
# kept: results are the same bits on every compiler, and loops vectorise. Assertions stay on in every
# build; they are kept out of hot loops by hand. Those of base/debug.h, which walk over lists, are in
# builds with sanitizers and in Debug builds only.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -g")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g -DLEATI_DEBUG")

# clang says where a loop that may be vectorised is not.
add_compile_options($<$<COMPILE_LANG_AND_ID:C,Clang>:-Wno-pass-failed>)
add_compile_options(-Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    -fno-math-errno -fno-trapping-math -ffp-contract=off)
# A hot loop takes up to a tenth longer where its function begins in the middle of a cache line, so what lies before it would decide.
add_compile_options(-falign-functions=64)
# Tests and benchmarks name options behind the macro that has their defaults (include/leat/base.h), and their many tracers
# know how few outputs they have.
set(LEAT_OVERRIDING $<$<COMPILE_LANGUAGE:C>:-Wno-override-init> $<$<COMPILE_LANGUAGE:C>:-Wno-unused-parameter>)
if(NOT LEAT_SANITIZE)
    # What nobody calls does not enter a library or program.
    add_compile_options(-ffunction-sections -fdata-sections)
    add_link_options(-Wl,--gc-sections)
endif()
# Programs that use only the low rooms do not load oneDNN.
add_link_options(-Wl,--as-needed)
if(LEAT_WERROR)
    add_compile_options(-Werror)
endif()

if(LEAT_SANITIZE STREQUAL "address")
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g1 -fno-omit-frame-pointer")
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
elseif(LEAT_SANITIZE STREQUAL "thread")
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g1 -fno-omit-frame-pointer")
    add_compile_options(-fsanitize=thread)
    add_link_options(-fsanitize=thread)
elseif(LEAT_SANITIZE STREQUAL "fuzzer")
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g1 -fno-omit-frame-pointer")
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
elseif(LEAT_SANITIZE STREQUAL "given")
    # Optimisation, sanitizers and coverage are those of CFLAGS and CXXFLAGS (tests/fuzz/oss-fuzz).
    set(CMAKE_C_FLAGS_RELEASE "")
elseif(LEAT_SANITIZE)
    message(FATAL_ERROR
        "LEAT_SANITIZE is \"${LEAT_SANITIZE}\"; expected address, fuzzer, given, thread or nothing")
endif()
if(LEAT_SANITIZE)
    add_compile_definitions(LEATI_DEBUG)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
if(LEAT_SANITIZE MATCHES "address|fuzzer|given")
    # What these two check needs C++'s own runtime of the sanitizer, and the programs are C.
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=vptr,function>
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-sanitize=vptr>)
endif()
