# Benchmarks: `ninja bench` builds them, `make bench` builds and runs them. bench/limit*.c are the bare
# work without leat, for the very machine they run on; bench/leat_<case>.c are leat's side.

file(GLOB limits CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/limit*.c)
file(GLOB cases CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/leat_*.c)
add_custom_target(bench)
foreach(source IN LISTS limits cases)
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
    set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_link_libraries(bench_${name} PRIVATE leati_build)
    if(source IN_LIST limits)
        target_compile_options(bench_${name} PRIVATE -O3 -march=native)
    else()
        target_link_libraries(bench_${name} PRIVATE leat)
    endif()
    add_dependencies(bench bench_${name})
endforeach()
