# What leat is built on. Everything but oneDNN is required. oneDNN's own CMake package is never
# asked: it ends the configuration where OpenCL is missing.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(LEAT_DEPS REQUIRED IMPORTED_TARGET libjpeg spng libisal zlib jansson libxxhash)
find_path(LEAT_RANDOM123_INCLUDE Random123/philox.h REQUIRED)

set(LEAT_LINK_NAMES ${LEAT_DEPS_LIBRARIES} m)
set(LEAT_HAVE_ONEDNN FALSE)
if(LEAT_ONEDNN AND NOT LEAT_SANITIZE STREQUAL "thread")
    find_path(LEAT_DNNL_INCLUDE oneapi/dnnl/dnnl.h)
    find_library(LEAT_DNNL_LIBRARY dnnl)
    # libgomp lies in gcc's own folder, which clang searches too: so ask the linker, not find_library.
    include(CheckFunctionExists)
    set(CMAKE_REQUIRED_LIBRARIES gomp)
    check_function_exists(omp_set_num_threads LEAT_HAVE_GOMP)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(LEAT_DNNL_INCLUDE AND LEAT_DNNL_LIBRARY AND LEAT_HAVE_GOMP)
        set(LEAT_HAVE_ONEDNN TRUE)
        list(APPEND LEAT_LINK_NAMES dnnl gomp)
    endif()
endif()
# Without SQLite sql_dataset is refused at construction.
pkg_check_modules(LEAT_SQLITE IMPORTED_TARGET sqlite3)
if(LEAT_SQLITE_FOUND)
    list(APPEND LEAT_LINK_NAMES ${LEAT_SQLITE_LIBRARIES})
endif()
message(STATUS "SQLite: ${LEAT_SQLITE_FOUND}")
message(STATUS "oneDNN: ${LEAT_HAVE_ONEDNN}")

# leati_link carries libraries and system headers; leati_build adds how our own sources are compiled.
add_library(leati_link INTERFACE)
target_link_libraries(leati_link INTERFACE PkgConfig::LEAT_DEPS Threads::Threads m)
if(LEAT_HAVE_ONEDNN)
    target_link_libraries(leati_link INTERFACE ${LEAT_DNNL_LIBRARY} gomp)
endif()

if(LEAT_SQLITE_FOUND)
    target_link_libraries(leati_link INTERFACE PkgConfig::LEAT_SQLITE)
endif()

add_library(leati_build INTERFACE)
target_link_libraries(leati_build INTERFACE leati_link)
target_include_directories(leati_build INTERFACE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(LEAT_SQLITE_FOUND)
    target_compile_definitions(leati_build INTERFACE LEATI_HAVE_SQLITE)
endif()
target_include_directories(leati_build SYSTEM INTERFACE ${LEAT_RANDOM123_INCLUDE})
# Written with an empty value, so that a file may also say `#define _GNU_SOURCE`.
target_compile_definitions(leati_build INTERFACE "_GNU_SOURCE=")
if(LEAT_HAVE_ONEDNN)
    target_compile_definitions(leati_build INTERFACE LEATI_HAVE_DNNL)
    target_include_directories(leati_build SYSTEM INTERFACE ${LEAT_DNNL_INCLUDE})
endif()
