# The rooms, lowest floor first. A room is an object library of src/<room>/**/*.c; it may use its
# own headers and those of lower floors, which tools/check_layers.py checks and which the unit tests
# show: a room's tests link it and the floors below it, nothing else. So a broken file in a high
# room does not stop the tests of a low one. Rooms without a source yet are left out.

set(LEAT_ROOMS base core run file image coll graph exec data dist service train cli)
set(LEAT_FLOOR_base 0)
set(LEAT_FLOOR_core 1)
set(LEAT_FLOOR_run 2)
set(LEAT_FLOOR_file 3)
set(LEAT_FLOOR_image 3)
set(LEAT_FLOOR_coll 3)
set(LEAT_FLOOR_graph 4)
set(LEAT_FLOOR_exec 5)
set(LEAT_FLOOR_data 6)
set(LEAT_FLOOR_dist 7)
set(LEAT_FLOOR_service 7)
set(LEAT_FLOOR_train 8)
set(LEAT_FLOOR_cli 9)

# The drawers of a room that has some, lowest first: a file includes its own drawer and those before it.
# "." is what lies in the room's folder itself. Tables (*.def) are for all drawers.
set(LEAT_DRAWERS_graph . support ops)
set(LEAT_DRAWERS_data plan values rewrites run access ahead source kept functions shares ops)
set(LEAT_DRAWERS_service transport wire dispatcher worker client)
set(LEAT_DRAWERS_train frame support initializers layers losses metrics schedules optimizers)

# Defines the object library leati_<room> and appends its objects to LEAT_OBJECTS_<room>.
function(leat_add_room room)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
    list(FILTER sources EXCLUDE REGEX "_test\\.c$")
    if(NOT LEAT_HAVE_ONEDNN)
        list(FILTER sources EXCLUDE REGEX "/exec/cpu/dnnl[^/]*\\.c$")
    endif()
    if(NOT LEAT_HAVE_MPI)
        list(FILTER sources EXCLUDE REGEX "/coll/mpi\\.c$")
    endif()
    if(NOT LEAT_HAVE_NCCL)
        list(FILTER sources EXCLUDE REGEX "/coll/nccl\\.c$")
    endif()
    if(LEAT_HAVE_GLOO)
        file(GLOB foreign CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cc)
        list(APPEND sources ${foreign})
    endif()
    if(NOT sources)
        return()
    endif()
    add_library(leati_${room} OBJECT ${sources})
    target_link_libraries(leati_${room} PRIVATE leati_build)
    # What runs once per program, model or plan is compiled for size; sanitizers want to see its lines.
    if(NOT LEAT_SANITIZE)
        set(cold ${sources})
        list(FILTER cold INCLUDE REGEX "/src/(train|cli|data/plan|data/rewrites)/|/core/(json|row|spec|[a-z]*_print)|/graph/builders_")
        set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
    endif()
    set(LEAT_OBJECTS_${room} $<TARGET_OBJECTS:leati_${room}> PARENT_SCOPE)
endfunction()

# Sets `out` to the objects of a room and of every lower floor.
function(leat_objects_up_to room out)
    set(objects ${LEAT_OBJECTS_${room}})
    foreach(other IN LISTS LEAT_ROOMS)
        if(LEAT_FLOOR_${other} LESS LEAT_FLOOR_${room})
            list(APPEND objects ${LEAT_OBJECTS_${other}})
        endif()
    endforeach()
    # From data/ on the joined table is complete, and its tests use functions that make datasets.
    if(LEAT_FLOOR_${room} GREATER_EQUAL LEAT_FLOOR_data)
        list(APPEND objects ${LEAT_OBJECTS_joined})
    endif()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()
