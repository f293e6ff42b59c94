# The Python package: python/native/*.c as leat/_native.abi3.so, with the library inside, beside links to
# the files of python/leat and the stubs in the build folder (PYTHONPATH=build/python). Left out where Python's headers are
# missing.

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
# With the tool, which the installed package's script calls (python/_leat_tool.py).
add_library(leat_python MODULE ${sources} ${LEAT_OBJECTS_cli})
set_target_properties(leat_python PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX ".abi3.so"
    LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${package})
target_include_directories(leat_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_include_directories(leat_python PRIVATE include src)
target_link_libraries(leat_python PRIVATE leat_static)
# leat's own symbols stay inside: a program that links the library too has two that do not meet.
target_link_options(leat_python PRIVATE LINKER:--exclude-libs,ALL)

# The modules lie beside the extension, which loads them when they are first used.
foreach(module IN LISTS LEAT_MODULES)
    add_custom_command(TARGET leat_python POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${module}> ${package}/lib${module}.so VERBATIM)
    add_dependencies(leat_python ${module})
    install(TARGETS ${module} LIBRARY DESTINATION leat COMPONENT python EXCLUDE_FROM_ALL)
endforeach()

# What `leat demo` trains on, and the tool's script.
file(MAKE_DIRECTORY ${package})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/data/digits ${package}/digits SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/_leat_tool.py ${PROJECT_BINARY_DIR}/python/_leat_tool.py SYMBOLIC)

# A link for each file: the stubs below lie among them and not among the sources. What a file was renamed from goes.
file(GLOB_RECURSE entries RELATIVE ${PROJECT_SOURCE_DIR}/python CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/python/leat/*.py ${PROJECT_SOURCE_DIR}/python/leat/py.typed)
file(GLOB_RECURSE old LIST_DIRECTORIES true RELATIVE ${PROJECT_BINARY_DIR}/python ${package}/*)
foreach(name IN LISTS old)
    if(IS_SYMLINK ${PROJECT_BINARY_DIR}/python/${name} AND NOT name IN_LIST entries
            AND NOT name MATCHES "^leat/(libleat_[a-z]+\\.so|digits)$")
        file(REMOVE ${PROJECT_BINARY_DIR}/python/${name})
    endif()
endforeach()
foreach(name IN LISTS entries)
    get_filename_component(folder ${PROJECT_BINARY_DIR}/python/${name} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/${name} ${PROJECT_BINARY_DIR}/python/${name} SYMBOLIC)
endforeach()

# The stubs, by an interpreter that can import the package; without one they are left out, but in a wheel.
set(stubs_python)
foreach(python ${PROJECT_SOURCE_DIR}/.venv/bin/python ${Python3_EXECUTABLE})
    execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT stubs_python AND failed STREQUAL "0")
        set(stubs_python ${python})
    endif()
endforeach()
if(stubs_python AND NOT CMAKE_CROSSCOMPILING)
    list(TRANSFORM entries PREPEND ${PROJECT_SOURCE_DIR}/python/ OUTPUT_VARIABLE stubs_of)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/python/stubs.stamp
        COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python
            ${stubs_python} -B ${PROJECT_SOURCE_DIR}/tools/make_stubs.py ${PROJECT_BINARY_DIR}/python
        COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/python/stubs.stamp
        DEPENDS leat_python ${stubs_of} ${PROJECT_SOURCE_DIR}/tools/make_stubs.py
        COMMENT "Writing the stubs of the Python package" VERBATIM)
    add_custom_target(leat_stubs ALL DEPENDS ${PROJECT_BINARY_DIR}/python/stubs.stamp)
elseif(SKBUILD)
    message(FATAL_ERROR "The stubs of the wheel need numpy beside the Python that builds it")
else()
    message(STATUS "The stubs of the Python package are left out: no numpy; `make deps` installs it")
endif()

# In the wheel (pyproject.toml) the module lies beside the package's files; `make install` leaves it out.
install(TARGETS leat_python LIBRARY DESTINATION leat COMPONENT python EXCLUDE_FROM_ALL)
install(FILES data/digits/digits-train.tfrecord data/digits/digits-test.tfrecord data/digits/README.md
    DESTINATION leat/digits COMPONENT python EXCLUDE_FROM_ALL)
install(FILES python/_leat_tool.py DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${package} DESTINATION . COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.pyi"
    PATTERN __pycache__ EXCLUDE PATTERN digits EXCLUDE)
