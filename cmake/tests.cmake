# The tests: unit tests beside the sources, suites under tests/, examples, and the tools' own tests.
# Nothing is listed: a file that follows the naming rule is found.
#
#   src/<room>/**/foo_test.c   test <room>/**/foo_test, one executable for a room, units/<room>, linked to it and below
#   tests/foo.c                test tests/foo, one executable, units/tests, linked to the whole library
#   tests/conform/*.c          one executable, tests/conform_test, and the tests conform/*
#   tests/faults/foo_test.c    test tests/faults/foo_test, one executable, units/faults, whose calls of the system the tests direct
#   tests/support/*.c          linked to everything under tests/
#   tests/golden/*.c           one executable, tests/golden, run once per part of the recorded cases,
#                              and once more with the pipelines in every mode
#   tests/fuzz/*.c             one executable, tests/fuzz_replay, and test fuzz
#   examples/foo.c             executable and test examples/foo, linked to libleat as a user would
#   tests/tools/*_test.py      test tools/*_test; what needs a build finds it as LEAT_BUILD
#   tests/cli/*_test.py        test cli/*_test, which runs what lies in the folder LEAT_BUILD
#   tests/sweeps/*_long_test.py  test sweeps/*_long_test, likewise
#   python/tests/test_foo.py   test python/foo, which needs .venv and says where it is skipped
#
# Labels: `threads` for what the thread sanitizer runs, `once` for what one compiler is enough for (the Python package, the
# tools), `long` for what only `make test-long` runs (LEAT_SWEPT, a test whose name ends in _long_test). Every test starts in the project's root.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_package(Python3 COMPONENTS Interpreter)
add_library(leati_test_build INTERFACE) # for whatever includes "support/x.h"
target_include_directories(leati_test_build INTERFACE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(leati_test_build INTERFACE leati_build PkgConfig::CMOCKA)
if(LEAT_OPENSSL_FOUND) # support/certificates.h makes some
    target_link_libraries(leati_test_build INTERFACE PkgConfig::LEAT_OPENSSL)
endif()
# Compiling the tests' own code in full would take twice as long, and longer than it makes them faster.
target_compile_options(leati_test_build INTERFACE $<$<CONFIG:Release>:-O1> ${LEAT_OVERRIDING})
set(LEAT_THREAD_ROOMS run coll exec data dist service train web)
set(LEAT_GOLDEN_PARTS tfdata distribute nn image)
set(LEAT_LONGEST tests/killed "conform/(data|states|ops_)" "dist/(distributed_processes|multi_worker)" golden/modes fuzz
    "python/(examples|process|workers|package|distribute)" "cli/(examples|train|accuracy|service)" "coll/(store|faults|processes)"
    "train/.*multi_worker" tools/check image/decode golden)

# What `make check`, and the builds for threads and by the other compiler, leave to the rest of `make test`: sweeps over failing
# memory, every example as a program, packages, long conversations of processes.
set(LEAT_FULL "conform/(data_memory|states)" multi_worker_memory golden/modes "(python|cli)/(.*_)?examples" "python/(package|process|site|workers)"
    dist/distributed_processes data/ops/groups tools/check tools/soak_test tools/chaos tests/faults/ python/killed_saves)

# What only `make test-long` runs, though it is not named so: sweeps of what shorter tests show, and without a sanitizer those that
# `make test` runs under the address sanitizer, to which in turn processes that are killed or speak through the tool show little.
set(LEAT_SWEPT "python/(service_(scenarios(_topology|_sharding)?|visits|page|restores)|killed_saves|web_page|strangers_mutated|agreement|limits|bench_ops)$"
    tools/soak_test tools/oss_fuzz_test cli/service_faults_test)
if(NOT LEAT_SANITIZE)
    list(APPEND LEAT_SWEPT conform/data_memory "tests/faults/(meeting|saves|system)")
else()
    list(APPEND LEAT_SWEPT "tests/faults/.*killed" "cli/(train|examples|accuracy|predict)_test")
endif()

# Registers one test: leat_test(NAME n COMMAND c [LABELS l...] [TIMEOUT seconds]).
function(leat_test)
    cmake_parse_arguments(T "" "NAME;TIMEOUT" "COMMAND;LABELS" ${ARGN})
    if(CMAKE_CROSSCOMPILING AND "${T_COMMAND}" MATCHES "^${PROJECT_BINARY_DIR}/")
        list(PREPEND T_COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR})
    endif()
    add_test(NAME ${T_NAME} COMMAND ${T_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    foreach(long _long_test$ ${LEAT_SWEPT})
        if(T_NAME MATCHES "${long}")
            list(APPEND T_LABELS long)
        endif()
    endforeach()
    foreach(full IN LISTS LEAT_FULL)
        if(T_NAME MATCHES "${full}")
            list(APPEND T_LABELS full)
        endif()
    endforeach()
    # Processes that talk by gRPC, into which no sanitizer sees.
    if(T_NAME MATCHES "^cli/(service|slurm)")
        list(APPEND T_LABELS once)
    endif()
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 300)
    endif()
    # The C library fills what it gives out, and what it gets back: whoever reads it finds no zeros, nor what was there.
    set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT} ENVIRONMENT "MALLOC_PERTURB_=165")
    # Those that take longest begin first: one of them at the end would leave the other cores idle. Of the others ctest remembers how
    # long they took.
    list(LENGTH LEAT_LONGEST cost)
    foreach(longest IN LISTS LEAT_LONGEST)
        if(T_NAME MATCHES "^${longest}")
            set_tests_properties(${T_NAME} PROPERTIES COST ${cost}000)
            break()
        endif()
        math(EXPR cost "${cost} - 1")
    endforeach()
endfunction()

# An executable at <build>/<path>; its CMake target is the path with underscores.
find_program(LEAT_LLD ld.lld)
function(leat_test_program path)
    string(REPLACE "/" "_" target t_${path})
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(name ${path} NAME)
    add_executable(${target} ${ARGN})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    target_compile_definitions(${target} PRIVATE LEATI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE leati_test_build)
    if(LEAT_MODULES) # which it may load
        add_dependencies(${target} ${LEAT_MODULES})
    endif()
    if(LEAT_LLD)
        target_link_options(${target} PRIVATE -fuse-ld=lld)
    endif()
endfunction()

# All that the tests of threads run; what is not for them the thread sanitizer's build leaves out.
add_custom_target(threads)

# One executable, units/<name>, of test programs below a folder: leat_units(NAME n FOLDER f SOURCES s... OBJECTS o... [LABELS l...]).
# Each holds all objects of its room and below, and takes as long to link; so there is one for a room, not one for a file.
function(leat_units)
    cmake_parse_arguments(U "" "NAME;FOLDER" "SOURCES;OBJECTS;LABELS" ${ARGN})
    if(NOT U_SOURCES)
        return()
    endif()
    set(table)
    set(program ${PROJECT_BINARY_DIR}/units/${U_NAME})
    foreach(source IN LISTS U_SOURCES)
        file(RELATIVE_PATH path ${U_FOLDER} ${source})
        string(REGEX REPLACE "\\.c$" "" path ${path})
        string(REPLACE "/" "_" function main_${path})
        set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=${function})
        string(APPEND table "X(${function}, \"${path}\")\n")
        leat_test(NAME ${path} COMMAND ${program} ${path} LABELS ${U_LABELS})
    endforeach()
    file(CONFIGURE OUTPUT ${program}.def CONTENT "${table}" @ONLY)
    leat_test_program(units/${U_NAME} ${PROJECT_SOURCE_DIR}/tests/units/runner.c ${U_SOURCES} ${U_OBJECTS})
    target_compile_definitions(t_units_${U_NAME} PRIVATE LEATI_UNITS="${program}.def")
    if("threads" IN_LIST U_LABELS)
        add_dependencies(threads t_units_${U_NAME})
    endif()
endfunction()

foreach(room IN LISTS LEAT_ROOMS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*_test.c)
    if(NOT LEAT_HAVE_ONEDNN)
        list(FILTER sources EXCLUDE REGEX "/exec/cpu/dnnl[^/]*\\.c$")
    endif()
    if(LEAT_SQLITE_FOUND)
        list(FILTER sources EXCLUDE REGEX "/dispatcher/absent_test\\.c$")
    else() # Without SQLite no dispatcher starts.
        list(FILTER sources EXCLUDE REGEX "/service/(dispatcher/(core|server|snapshots)[a-z_]*|client/service)_test\\.c$")
    endif()
    leat_objects_up_to(${room} objects)
    set(labels)
    if(room IN_LIST LEAT_THREAD_ROOMS)
        set(labels threads)
    elseif(LEAT_SANITIZE STREQUAL "thread")
        continue()
    endif()
    leat_units(NAME ${room} FOLDER ${PROJECT_SOURCE_DIR}/src SOURCES ${sources} OBJECTS ${objects} LABELS ${labels})
endforeach()

# Modules for src/base/module_test.c: of this version, of another one, and one without a table.
foreach(kind same other bare)
    add_library(unit_module_${kind} MODULE ${PROJECT_SOURCE_DIR}/tests/units/module.c)
    set_target_properties(unit_module_${kind} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/units)
    target_include_directories(unit_module_${kind} PRIVATE src include)
    if(TARGET t_units_base)
        add_dependencies(t_units_base unit_module_${kind})
    endif()
endforeach()
target_compile_definitions(unit_module_same PRIVATE LEATI_MODULE_FOR="${PROJECT_VERSION}")
target_compile_definitions(unit_module_other PRIVATE LEATI_MODULE_FOR="0.0.7")

# What the suites share may use every room.
file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
set(suite_objects ${LEAT_OBJECTS})
if(support)
    add_library(leati_test_support OBJECT ${support})
    target_link_libraries(leati_test_support PRIVATE leati_test_build)
    list(APPEND suite_objects $<TARGET_OBJECTS:leati_test_support>)
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.c)
leat_units(NAME tests FOLDER ${PROJECT_SOURCE_DIR} SOURCES ${sources} OBJECTS ${suite_objects} LABELS threads)
# The plug-in of tests/pjrt_test.c.
add_library(pjrt_mock MODULE ${PROJECT_SOURCE_DIR}/tests/pjrt/mock.c)
target_link_libraries(pjrt_mock PRIVATE leati_test_build)
target_include_directories(pjrt_mock SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/third_party)
set_target_properties(pjrt_mock PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_dependencies(t_units_tests pjrt_mock)
target_compile_definitions(t_units_tests PRIVATE LEATI_MOCK_PJRT="${PROJECT_BINARY_DIR}/tests/pjrt_mock.so")
# Processes that are killed show the thread sanitizer nothing, and it makes each ten times as slow.
if(LEAT_SANITIZE STREQUAL "thread" AND TEST tests/killed_test)
    set_tests_properties(tests/killed_test PROPERTIES LABELS "")
endif()

# What fails or kills at a call of the system defines these calls itself, for one program, and for those that are there already.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/faults/*_test.c)
leat_units(NAME faults FOLDER ${PROJECT_SOURCE_DIR} SOURCES ${sources}
    OBJECTS ${PROJECT_SOURCE_DIR}/tests/faults/calls.c ${PROJECT_SOURCE_DIR}/tests/faults/kinds.c ${suite_objects})
if(NOT LEAT_SANITIZE)
    add_library(faults_preload MODULE ${PROJECT_SOURCE_DIR}/tests/faults/calls.c)
    target_link_libraries(faults_preload PRIVATE leati_build)
    target_compile_definitions(faults_preload PRIVATE LEAT_FAULTS_PRELOAD)
    set_target_properties(faults_preload PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
        C_VISIBILITY_PRESET default)
endif()

# The web page with a state that a test of python/tests says.
if(LEAT_MICROHTTPD_FOUND)
    leat_objects_up_to(web objects)
    leat_test_program(tests/web_serve ${PROJECT_SOURCE_DIR}/tests/web/serve.c ${objects})
endif()

# Suites of tests/conform_test as one test, or dealt to several that run at a time: leat_conform(NAME PARTS LABELS SUITE...).
# Under a sanitizer, which takes ten times as long, four of five cases of such a suite are left to `make test-long`, and three of
# four where processes speak to each other.
function(leat_conform name parts labels)
    set(short ${parts})
    if(name MATCHES "service")
        math(EXPR parts "4 * ${parts}")
    elseif(LEAT_SANITIZE AND parts GREATER 1)
        math(EXPR parts "5 * ${parts}")
    endif()
    foreach(part RANGE 1 ${parts})
        set(test conform/${name})
        if(parts GREATER 1)
            string(APPEND test _${part})
        endif()
        if(part GREATER short)
            list(APPEND labels long)
        endif()
        leat_test(NAME ${test} TIMEOUT 900 LABELS ${labels}
            COMMAND ${PROJECT_BINARY_DIR}/tests/conform_test --part ${part}/${parts} ${ARGN})
    endforeach()
endfunction()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/conform/*.c)
if(sources)
    leat_test_program(tests/conform_test ${sources} ${suite_objects})
    add_dependencies(threads t_tests_conform_test)
    leat_conform(data 4 threads data arguments)
    leat_conform(data_at 1 threads data_at descriptors)
    leat_conform(data_memory 4 threads data_memory)
    leat_conform(data_service 1 once data_service)
    leat_conform(states 3 threads states)
    leat_conform(ops 2 "" ops)
    if(NOT LEAT_SANITIZE AND NOT CMAKE_CROSSCOMPILING) # A plug-in is a foreign library, whose threads and memory are its own.
        foreach(part RANGE 1 32)
            set(labels once)
            if(part GREATER 1)
                list(APPEND labels long)
            endif()
            leat_test(NAME conform/ops_pjrt_${part} TIMEOUT 900 LABELS ${labels}
                COMMAND ${CMAKE_COMMAND} -E env VIRTUAL_ENV=${PROJECT_SOURCE_DIR}/.venv
                        ${PROJECT_BINARY_DIR}/tests/conform_test --part ${part}/32 ops_pjrt)
        endforeach()
    endif()
    leat_conform(ops_more 1 "" ops_fields types ops_devices ops_state ops_pictures signatures census)
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/golden/*.c)
if(sources)
    leat_test_program(tests/golden ${sources} ${suite_objects})
    foreach(part IN LISTS LEAT_GOLDEN_PARTS)
        leat_test(NAME golden/${part} TIMEOUT 900
            COMMAND ${PROJECT_BINARY_DIR}/tests/golden --only ${part} tests/golden/data)
    endforeach()
    # What the modes differ in is threads, and places to restore from: the address sanitizer sees these in conform/states.
    if(NOT LEAT_SANITIZE STREQUAL "address")
        leat_test(NAME golden/modes TIMEOUT 900 LABELS threads
            COMMAND ${PROJECT_BINARY_DIR}/tests/golden --only tfdata --modes all tests/golden/data)
    endif()
endif()

# With libFuzzer's runtime one program holds every target; without, the kept corpus is replayed.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.c)
list(FILTER sources EXCLUDE REGEX "/(libfuzzer|replay)\\.c$")
add_library(leati_fuzz OBJECT ${sources})
target_compile_definitions(leati_fuzz PRIVATE LEATI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(leati_fuzz PRIVATE leati_test_build)
leat_test_program(tests/fuzz_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c
    $<TARGET_OBJECTS:leati_fuzz> ${suite_objects})
leat_test(NAME fuzz TIMEOUT 900
    COMMAND ${PROJECT_BINARY_DIR}/tests/fuzz_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus)
if(LEAT_SANITIZE STREQUAL "fuzzer")
    leat_test_program(tests/fuzz ${PROJECT_SOURCE_DIR}/tests/fuzz/libfuzzer.c
        $<TARGET_OBJECTS:leati_fuzz> ${suite_objects})
    target_link_options(t_tests_fuzz PRIVATE -fsanitize=fuzzer)
elseif(LEAT_SANITIZE STREQUAL "given")
    # For an engine that somebody else brings, a program for each target: tests/fuzz/oss-fuzz/build.sh.
    set(LEAT_FUZZING_ENGINE "-fsanitize=fuzzer" CACHE STRING "What fuzz targets are linked with: a flag or a library")
    file(STRINGS ${PROJECT_SOURCE_DIR}/tests/fuzz/targets.def targets REGEX "^X\\(")
    list(TRANSFORM targets REPLACE "^X\\(([a-z0-9_]+)\\)$" "\\1")
    foreach(target IN LISTS targets)
        leat_test_program(tests/fuzz_${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/libfuzzer.c
            $<TARGET_OBJECTS:leati_fuzz> ${suite_objects})
        target_compile_definitions(t_tests_fuzz_${target} PRIVATE FUZZ_TARGET="${target}")
        target_link_libraries(t_tests_fuzz_${target} PRIVATE ${LEAT_FUZZING_ENGINE})
        set_target_properties(t_tests_fuzz_${target} PROPERTIES EXCLUDE_FROM_ALL TRUE LINKER_LANGUAGE CXX)
    endforeach()
endif()

# Two devices, one epoch of small pictures.
set(LEAT_ARGUMENTS_resnet50_photos data/digits/sample 8 2 1 2 32)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    target_link_libraries(example_${name} PRIVATE leat)
    leat_test(NAME examples/${name} COMMAND ${PROJECT_BINARY_DIR}/examples/${name} ${LEAT_ARGUMENTS_${name}})
endforeach()

# Every public header compiles alone, as C and as C++; so do the defaults of all options, in the order of their members.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include/leat
    ${PROJECT_SOURCE_DIR}/include/leat/*.h ${PROJECT_SOURCE_DIR}/include/leat/ops/*.h)
set(alone)
set(defaults "#include <leat/leat.h>\nvoid take_defaults(void);\nvoid take_defaults(void) {\n")
foreach(name IN LISTS headers)
    file(READ ${PROJECT_SOURCE_DIR}/include/leat/${name} text)
    string(REGEX MATCHALL "LEAT_[A-Z0-9_]+_DEFAULTS[^a-z]*size = sizeof.[a-z0-9_]+" macros "${text}")
    foreach(macro IN LISTS macros)
        string(REGEX MATCH "^[A-Z0-9_]+" initialiser "${macro}")
        string(REGEX MATCH "leat_[a-z0-9_]+$" type "${macro}")
        string(APPEND defaults "    { ${type} options = {${initialiser}}; (void)options; }\n")
    endforeach()
    foreach(language c cpp)
        if(language STREQUAL "c" OR CMAKE_CXX_COMPILER)
            set(file ${PROJECT_BINARY_DIR}/headers/${name}.${language})
            file(CONFIGURE OUTPUT ${file} CONTENT "#include <leat/${name}>\n")
            list(APPEND alone ${file})
        endif()
    endforeach()
endforeach()
foreach(language c cpp)
    if(language STREQUAL "c" OR CMAKE_CXX_COMPILER)
        file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/defaults.${language} CONTENT "${defaults}}\n" @ONLY)
        list(APPEND alone ${PROJECT_BINARY_DIR}/headers/defaults.${language})
    endif()
endforeach()
set_source_files_properties(${PROJECT_BINARY_DIR}/headers/defaults.cpp PROPERTIES
    COMPILE_OPTIONS "-std=c++20;-Wno-missing-field-initializers")
add_library(leati_headers_alone OBJECT ${alone})
target_include_directories(leati_headers_alone PRIVATE ${PROJECT_SOURCE_DIR}/include)

if(Python3_FOUND)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tools/*_test.py)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        leat_test(NAME tools/${name} TIMEOUT 900 LABELS once COMMAND
            ${CMAKE_COMMAND} -E env LEAT_BUILD=${PROJECT_BINARY_DIR} ${Python3_EXECUTABLE} -B ${source})
    endforeach()
    foreach(folder cli sweeps)
        file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.py)
        foreach(source IN LISTS sources)
            get_filename_component(name ${source} NAME_WE)
            leat_test(NAME ${folder}/${name} TIMEOUT 3600 COMMAND
                ${CMAKE_COMMAND} -E env LEAT_BUILD=${PROJECT_BINARY_DIR} ${Python3_EXECUTABLE} -B ${source})
        endforeach()
    endforeach()
endif()

# A program under a sanitizer cannot be loaded into a Python without one.
if(NOT LEAT_SANITIZE)
    file(GLOB sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tests/test_*.py)
    foreach(source IN LISTS sources)
        string(REGEX REPLACE "^python/tests/test_(.*)\\.py$" "python/\\1" name ${source})
        leat_test(NAME ${name} TIMEOUT 600 LABELS once
            COMMAND sh ${PROJECT_SOURCE_DIR}/python/tests/run.sh ${PROJECT_BINARY_DIR} ${source})
        set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endif()

# Compilers describe the same types in other words, so one of them is compared with itself.
if(TARGET leat AND Python3_FOUND AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT LEAT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    leat_test(NAME abi LABELS once COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/abi.py $<TARGET_FILE:leat>)
    set_tests_properties(abi PROPERTIES SKIP_RETURN_CODE 77)
endif()

# An installed copy, as programs of other people see it; the sanitizers' libraries are not for installing.
if(TARGET leat_tool AND NOT LEAT_SANITIZE)
    leat_test(NAME install
        COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_BINARY_DIR} ${PROJECT_VERSION})
endif()
