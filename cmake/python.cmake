# The Python package: python/native/*.c as leat/_native.abi3.so, with the library inside, beside links to
# python/leat in the build folder (PYTHONPATH=build/python). Left out where Python's headers are missing.

option(LEAT_PYTHON "Build the Python package where Python's headers are installed" ON)
if(NOT LEAT_PYTHON OR LEAT_SANITIZE)
    return()
endif()
find_package(Python3 3.11 COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND)
    message(STATUS "The Python package is left out: no headers of Python 3.11 or newer")
    return()
endif()

set(package ${PROJECT_BINARY_DIR}/python/leat)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/native/*.c)
add_library(leat_python MODULE ${sources})
set_target_properties(leat_python PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX ".abi3.so"
    LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${package})
target_include_directories(leat_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_include_directories(leat_python PRIVATE include)
target_link_libraries(leat_python PRIVATE leat_static)
# leat's own symbols stay inside: a program that links the library too has two that do not meet.
target_link_options(leat_python PRIVATE LINKER:--exclude-libs,ALL)

file(GLOB entries CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/leat/*)
file(MAKE_DIRECTORY ${package})
foreach(entry IN LISTS entries)
    get_filename_component(name ${entry} NAME)
    file(CREATE_LINK ${entry} ${package}/${name} SYMBOLIC)
endforeach()

# In the wheel (pyproject.toml) the module lies beside the package's files; `make install` leaves it out.
install(TARGETS leat_python LIBRARY DESTINATION leat COMPONENT python EXCLUDE_FROM_ALL)
