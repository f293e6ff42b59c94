/* A PJRT plug-in that computes nothing, for tests of what goes wrong (tests/pjrt_test.c).
 *
 * It has one device. A program's results have the types that its text says; each is the first
 * argument of the same type with 1 added to every float32, or zeros. What goes wrong is said by the
 * environment when a function is called, LEAT_MOCK_PJRT, a list of words separated by commas:
 * minor=N (the version), lack=NAME (no entry point of that name), client, compile, execute=N (the
 * N-th execution from the last change of the list on), late=N (its event fails), upload, download
 * (their events fail), hang (an execution ends when mock_pjrt_go_on is called). Objects are
 * counted; mock_pjrt_live says how many there are. Failures: none of its own. Thread-safe. */
#include <pjrt/pjrt_c_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct PJRT_Error {
    PJRT_Error_Code code;
    char text[96];
};
struct PJRT_Event {
    PJRT_Error *error; /* what waiting gives; NULL: success */
    bool hangs;
};
struct PJRT_Buffer {
    char type[64]; /* "2x3xf32" */
    size_t size;
    char *data;
};
struct PJRT_LoadedExecutable {
    char (*results)[64];
    size_t num_results;
};
struct PJRT_Client {
    int unused;
};
struct PJRT_Device {
    int unused;
};
struct PJRT_DeviceDescription {
    int unused;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int live, executions, waiting; /* under lock */
static bool may_go_on;
static char last_words[256]; /* executions are counted from its change on */

__attribute__((visibility("default"))) int mock_pjrt_live(void);
__attribute__((visibility("default"))) int mock_pjrt_waiting(void);
__attribute__((visibility("default"))) void mock_pjrt_go_on(void);
__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

/* ---- words ---- */

static const char *words(void) {
    const char *found = getenv("LEAT_MOCK_PJRT");
    return found != NULL ? found : "";
}

/* The word, or NULL; what stands behind it. */
static const char *find_word(const char *name) {
    size_t size = strlen(name);
    for (const char *at = words(); *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, size) == 0 && strchr(",=", at[size]) != NULL)
            return at + size + (at[size] == '=');
    return NULL;
}

static void count(int by) {
    pthread_mutex_lock(&lock);
    live += by;
    pthread_mutex_unlock(&lock);
}

int mock_pjrt_live(void) {
    pthread_mutex_lock(&lock);
    int found = live;
    pthread_mutex_unlock(&lock);
    return found;
}

int mock_pjrt_waiting(void) {
    pthread_mutex_lock(&lock);
    int found = waiting;
    pthread_mutex_unlock(&lock);
    return found;
}

void mock_pjrt_go_on(void) {
    pthread_mutex_lock(&lock);
    may_go_on = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- errors and events ---- */

static PJRT_Error *fail(PJRT_Error_Code code, const char *text) {
    PJRT_Error *error = calloc(1, sizeof *error);
    if (error == NULL)
        abort();
    error->code = code;
    snprintf(error->text, sizeof error->text, "%s", text);
    count(1);
    return error;
}

static void error_destroy(PJRT_Error_Destroy_Args *args) {
    free(args->error);
    count(-1);
}

static void error_message(PJRT_Error_Message_Args *args) {
    args->message = args->error->text;
    args->message_size = strlen(args->error->text);
}

static PJRT_Error *error_code(PJRT_Error_GetCode_Args *args) {
    args->code = args->error->code;
    return NULL;
}

static PJRT_Event *event_new(PJRT_Error *error) {
    PJRT_Event *event = calloc(1, sizeof *event);
    if (event == NULL)
        abort();
    event->error = error;
    count(1);
    return event;
}

static PJRT_Error *event_await(PJRT_Event_Await_Args *args) {
    pthread_mutex_lock(&lock);
    waiting += args->event->hangs;
    while (args->event->hangs && !may_go_on)
        pthread_cond_wait(&changed, &lock);
    waiting -= args->event->hangs;
    pthread_mutex_unlock(&lock);
    PJRT_Error *error = args->event->error;
    args->event->error = NULL;
    return error;
}

static PJRT_Error *event_destroy(PJRT_Event_Destroy_Args *args) {
    if (args->event->error != NULL)
        error_destroy(&(PJRT_Error_Destroy_Args){.error = args->event->error});
    free(args->event);
    count(-1);
    return NULL;
}

/* ---- buffers ---- */

static size_t size_of(const char *type) {
    size_t size = 1;
    const char *at = type;
    while (*at >= '0' && *at <= '9') {
        size *= (size_t)strtoul(at, NULL, 10);
        at += strspn(at, "0123456789") + 1;
    }
    size_t bits = (size_t)strtoul(at + strcspn(at, "0123456789"), NULL, 10);
    return size * (bits < 8 ? 1 : bits / 8);
}

static PJRT_Buffer *buffer_new(const char *type) {
    PJRT_Buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        abort();
    snprintf(buffer->type, sizeof buffer->type, "%s", type);
    buffer->size = size_of(type);
    buffer->data = calloc(buffer->size + 1, 1);
    if (buffer->data == NULL)
        abort();
    count(1);
    return buffer;
}

static PJRT_Error *buffer_destroy(PJRT_Buffer_Destroy_Args *args) {
    free(args->buffer->data);
    free(args->buffer);
    count(-1);
    return NULL;
}

static const char *element_of(PJRT_Buffer_Type type) {
    switch (type) {
    case PJRT_Buffer_Type_PRED: return "i1";
    case PJRT_Buffer_Type_S32: return "i32";
    case PJRT_Buffer_Type_S64: return "i64";
    case PJRT_Buffer_Type_F64: return "f64";
    default: return "f32";
    }
}

static PJRT_Error *upload(PJRT_Client_BufferFromHostBuffer_Args *args) {
    char type[64] = "";
    size_t used = 0;
    for (size_t d = 0; d < args->num_dims; d++)
        used +=
            (size_t)snprintf(type + used, sizeof type - used, "%lldx", (long long)args->dims[d]);
    snprintf(type + used, sizeof type - used, "%s", element_of(args->type));
    args->buffer = buffer_new(type);
    memcpy(args->buffer->data, args->data, args->buffer->size);
    bool late = find_word("upload") != NULL;
    args->done_with_host_buffer =
        event_new(late ? fail(PJRT_Error_Code_DATA_LOSS, "mock: upload") : NULL);
    return NULL;
}

static PJRT_Error *download(PJRT_Buffer_ToHostBuffer_Args *args) {
    bool late = find_word("download") != NULL;
    if (!late)
        memcpy(args->dst, args->src->data, args->dst_size);
    args->event = event_new(late ? fail(PJRT_Error_Code_DATA_LOSS, "mock: download") : NULL);
    return NULL;
}

/* ---- client and device ---- */

static PJRT_Client the_client;
static PJRT_Device the_device;
static PJRT_Device *const devices[1] = {&the_device};
static PJRT_DeviceDescription the_description;

static PJRT_Error *initialize(PJRT_Plugin_Initialize_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *attributes(PJRT_Plugin_Attributes_Args *args) {
    args->num_attributes = 0;
    return NULL;
}

static PJRT_Error *client_create(PJRT_Client_Create_Args *args) {
    if (find_word("client") != NULL)
        return fail(PJRT_Error_Code_UNAVAILABLE, "mock: no device is free");
    args->client = &the_client;
    return NULL;
}

static PJRT_Error *addressable(PJRT_Client_AddressableDevices_Args *args) {
    args->addressable_devices = devices;
    args->num_addressable_devices = 1;
    return NULL;
}

static PJRT_Error *platform(PJRT_Client_PlatformName_Args *args) {
    args->platform_name = "mock";
    args->platform_name_size = 4;
    return NULL;
}

static PJRT_Error *describe(PJRT_Device_GetDescription_Args *args) {
    args->device_description = &the_description;
    return NULL;
}

static PJRT_Error *description_id(PJRT_DeviceDescription_Id_Args *args) {
    args->id = 0;
    return NULL;
}

/* ---- programs ---- */

/* The types behind "-> (" of the function main. */
static void read_results(const char *text, PJRT_LoadedExecutable *out) {
    const char *at = strstr(text, "@main");
    at = at == NULL ? NULL : strstr(at, "-> (");
    const char *end = at == NULL ? NULL : strchr(at, ')');
    while (at != NULL && (at = strstr(at, "tensor<")) != NULL && at < end) {
        size_t size = strcspn(at + 7, ">");
        out->results = realloc(out->results, (out->num_results + 1) * sizeof *out->results);
        if (out->results == NULL || size >= sizeof *out->results)
            abort();
        memcpy(out->results[out->num_results], at + 7, size);
        out->results[out->num_results++][size] = '\0';
        at += size;
    }
}

static PJRT_Error *compile(PJRT_Client_Compile_Args *args) {
    if (find_word("compile") != NULL)
        return fail(PJRT_Error_Code_INVALID_ARGUMENT, "mock: the program does not compile");
    char *text = strndup(args->program->code, args->program->code_size);
    args->executable = calloc(1, sizeof *args->executable);
    if (text == NULL || args->executable == NULL)
        abort();
    read_results(text, args->executable);
    free(text);
    count(1);
    return NULL;
}

static PJRT_Error *executable_destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
    free(args->executable->results);
    free(args->executable);
    count(-1);
    return NULL;
}

/* The number of this execution. */
static int next_execution(void) {
    pthread_mutex_lock(&lock);
    if (strcmp(last_words, words()) != 0) {
        snprintf(last_words, sizeof last_words, "%s", words());
        executions = 0;
        may_go_on = false;
    }
    int number = ++executions;
    pthread_mutex_unlock(&lock);
    return number;
}

static PJRT_Buffer *compute(const PJRT_LoadedExecutable_Execute_Args *args, const char *type) {
    PJRT_Buffer *out = buffer_new(type);
    size_t size = strlen(type);
    for (size_t i = 0; i < args->num_args; i++) {
        const PJRT_Buffer *in = args->argument_lists[0][i];
        if (strcmp(in->type, type) != 0)
            continue;
        memcpy(out->data, in->data, out->size);
        for (size_t k = 0; strcmp(type + size - 3, "f32") == 0 && k < out->size;
             k += sizeof(float)) {
            float value;
            memcpy(&value, out->data + k, sizeof value);
            value += 1;
            memcpy(out->data + k, &value, sizeof value);
        }
        break;
    }
    return out;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args) {
    int number = next_execution();
    const char *fails = find_word("execute"), *late = find_word("late");
    if (fails != NULL && atoi(fails) == number)
        return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "mock: no memory on the device");
    for (size_t i = 0; i < args->executable->num_results; i++)
        args->output_lists[0][i] = compute(args, args->executable->results[i]);
    if (args->device_complete_events != NULL) {
        bool is_late = late != NULL && atoi(late) == number;
        PJRT_Event *event =
            event_new(is_late ? fail(PJRT_Error_Code_ABORTED, "mock: the device was lost") : NULL);
        event->hangs = find_word("hang") != NULL;
        args->device_complete_events[0] = event;
    }
    return NULL;
}

/* ---- the table ---- */

#define ENTRIES(X)                                                                                 \
    X(Error_Destroy, error_destroy)                                                                \
    X(Error_Message, error_message)                                                                \
    X(Error_GetCode, error_code)                                                                   \
    X(Plugin_Initialize, initialize)                                                               \
    X(Plugin_Attributes, attributes)                                                               \
    X(Event_Destroy, event_destroy)                                                                \
    X(Event_Await, event_await)                                                                    \
    X(Client_Create, client_create)                                                                \
    X(Client_PlatformName, platform)                                                               \
    X(Client_AddressableDevices, addressable)                                                      \
    X(Client_Compile, compile)                                                                     \
    X(Client_BufferFromHostBuffer, upload)                                                         \
    X(DeviceDescription_Id, description_id)                                                        \
    X(Device_GetDescription, describe)                                                             \
    X(LoadedExecutable_Destroy, executable_destroy)                                                \
    X(LoadedExecutable_Execute, execute)                                                           \
    X(Buffer_Destroy, buffer_destroy)                                                              \
    X(Buffer_ToHostBuffer, download)

const PJRT_Api *GetPjrtApi(void) {
    static PJRT_Api api;
    const char *minor = find_word("minor"), *lack = find_word("lack");
    memset(&api, 0, sizeof api);
    api.struct_size = sizeof api;
    api.pjrt_api_version.struct_size = sizeof api.pjrt_api_version;
    api.pjrt_api_version.major_version = PJRT_API_MAJOR;
    api.pjrt_api_version.minor_version = minor != NULL ? atoi(minor) : PJRT_API_MINOR;
#define X(name, function)                                                                          \
    if (lack == NULL || strncmp(lack, #name, strlen(#name)) != 0)                                  \
        api.PJRT_##name = (function);
    ENTRIES(X)
#undef X
    return &api;
}
