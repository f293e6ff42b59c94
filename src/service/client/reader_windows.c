/* How much a worker may send before more is asked for; see reader_parts.h.
 *
 * Happy path: a window begins small, as many elements as TensorFlow keeps outstanding, and doubles
 * each time the consumer has to wait although a whole window came since it grew: then credit was on
 * its way while the worker could have sent. So it settles near rate times delay, and a consumer
 * that is slower than the worker keeps it small. Credit is given back when half of a window was
 * taken, so that a stream of small elements costs few messages. With max_outstanding_requests the
 * windows of all tasks together hold so many elements, one at least for each task. Coordinated
 * consumers say which turns are past instead, behind which so many come as the window has elements,
 * so that turns become whole while earlier ones are used; their credit is without an end. Cannot
 * fail. No locks of its own: the reader's gate. */
#include "base/minmax.h"
#include "service/client/reader_parts.h"

enum {
    FIRST_ELEMENTS = 16,
    MOST_ELEMENTS = 1 << 20,
    FIRST_BYTES = 1 << 20,
    MOST_BYTES = 64 << 20, /* of one task */
    ALL_BYTES = 256 << 20, /* of all */
    LEAST_TURNS = 2,       /* of a coordinated consumer, of one task */
    MOST_TURNS = 16
};

static int64_t count_tasks(const leati_client_reader *reader) {
    int64_t count = 0;
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        count += !task->ended && !task->passed;
    return LEATI_MAX(count, 1);
}

static int64_t most_elements(const leati_client_reader *reader) {
    bool turns = leati_client_reader_is_coordinated(reader);
    if (reader->options.max_outstanding <= 0)
        return turns ? MOST_TURNS : MOST_ELEMENTS;
    int64_t share = reader->options.max_outstanding / count_tasks(reader);
    if (turns)
        return LEATI_MAX(LEATI_MIN(share, (int64_t)MOST_TURNS), (int64_t)LEAST_TURNS);
    return LEATI_MAX(share, 1);
}

void leati_client_reader_window_begin(leati_client_reader *reader, leati_client_reader_task *task) {
    int64_t most = most_elements(reader);
    task->window = (leati_client_reader_window){
        .elements = LEATI_MIN(most, (int64_t)FIRST_ELEMENTS), .bytes = FIRST_BYTES};
}

void leati_client_reader_window_grant(const leati_client_reader_task *task, int64_t *elements,
                                      int64_t *bytes) {
    bool endless = leati_client_reader_is_coordinated(task->reader);
    *elements = endless ? INT64_MAX : task->window.elements;
    *bytes = endless ? INT64_MAX : task->window.bytes;
}

void leati_client_reader_window_came(leati_client_reader_task *task, int64_t elements,
                                     int64_t bytes) {
    task->window.came_elements += elements;
    task->window.came_bytes += bytes;
}

void leati_client_reader_window_took(const leati_client_reader_part *part, int64_t elements) {
    const leati_client_reader_task *task = part->task;
    leati_client_reader_window *window = &part->task->window;
    /* The credit of an earlier stream ended with it. */
    if (part->opening == task->opening) {
        window->owed_elements += elements;
        window->owed_bytes += part->taken + elements == part->n ? part->bytes : 0;
    }
    /* Another attempt may have other elements at these positions, which did not come yet. */
    if (part->attempt != task->attempt)
        return;
    if (window->acked_end == window->acked_begin)
        window->acked_begin = part->position;
    window->acked_end = part->position + elements;
}

void leati_client_reader_windows_grow(leati_client_reader *reader) {
    int64_t most = most_elements(reader), room = ALL_BYTES / count_tasks(reader);
    int64_t most_bytes = LEATI_MIN(room, (int64_t)MOST_BYTES);
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        leati_client_reader_window *window = &task->window;
        if (task->state != LEATI_CLIENT_READING || task->ended ||
            leati_client_reader_is_coordinated(reader))
            continue;
        int64_t more = LEATI_MIN(window->elements, most - window->elements);
        if (window->came_elements >= window->elements && more > 0) {
            window->elements += more;
            window->owed_elements += more;
            window->came_elements = 0;
        }
        more = LEATI_MIN(window->bytes, most_bytes - window->bytes);
        if (window->came_bytes >= window->bytes && more > 0) {
            window->bytes += more;
            window->owed_bytes += more;
            window->came_bytes = 0;
        }
    }
}

bool leati_client_reader_window_breaks(const leati_client_reader_task *task, int64_t position) {
    const leati_client_reader_window *window = &task->window;
    return leati_client_reader_acknowledges(task->reader) &&
           window->acked_end > window->acked_begin && window->acked_end != position;
}

bool leati_client_reader_window_is_due(const leati_client_reader_task *task, bool all) {
    const leati_client_reader_window *window = &task->window;
    if (task->state != LEATI_CLIENT_READING || leati_client_reader_is_coordinated(task->reader))
        return false;
    /* Of an ended task nothing is asked for; what was taken of it is acknowledged all the same. */
    if (task->ended)
        return leati_client_reader_acknowledges(task->reader) && task->here == 0 &&
               window->acked_end > window->acked_begin;
    if (all)
        return window->owed_elements > 0 || window->owed_bytes > 0;
    return 2 * window->owed_elements >= window->elements || 2 * window->owed_bytes >= window->bytes;
}

leati_frame_credit leati_client_reader_window_settle(leati_client_reader_task *task) {
    leati_client_reader_window *window = &task->window;
    leati_frame_credit credit = {.elements = window->owed_elements,
                                 .bytes = window->owed_bytes,
                                 .acked_begin = window->acked_begin,
                                 .acked_end = window->acked_end};
    window->owed_elements = window->owed_bytes = 0;
    window->acked_begin = window->acked_end = 0;
    return credit;
}
