/* PJRT plug-ins: found, loaded, checked, and their errors.
 *
 * Happy path: the first call for a kind of devices looks for the plug-in's file, loads it, checks
 * its version, initialises it and makes a client, which stays for the process. Files are looked for
 * at LEAT_PJRT_PLUGIN, then in the folders that leati_device_pjrt_search added (the site-packages
 * of the running Python), then in those of $VIRTUAL_ENV. Failures: no file, a library that does not
 * load, a version before 0.57, a machine without such a device. Lock: `lock` guards the clients and
 * folders and is held while a plug-in loads, so that it is loaded once. */
#include "exec/pjrt/pjrt.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST = 57, MOST_FOLDERS = 16 };

/* A kind of devices: where its plug-ins lie below site-packages, newest first. */
typedef struct pjrt_kind {
    const char *kind;
    const char *files[4];
    const char *package; /* that brings one */
    bool of_host;        /* its devices are cores of this host */
} pjrt_kind;

static const pjrt_kind kinds[] = {
    {"GPU",
     {"jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
      "xla_plugins/xla_cuda13_pjrt/xla_cuda13_pjrt.so"},
     "jax-cuda13-pjrt (pip install \"jax-cuda13-pjrt[with-cuda]\")",
     false},
    {"TPU", {"libtpu/libtpu.so"}, "libtpu (pip install libtpu)", false},
    {"XLA_CPU",
     {"xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
     "xla-cpu-pjrt (pip install xla-cpu-pjrt)",
     true},
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(pjrt, &lock);
static leati_pjrt_client *clients[NUM_KINDS];
static char *folders[MOST_FOLDERS];
static int num_folders;
static int num_cpus = 1; /* devices that XLA's CPU makes of the host */

/* ---- errors ---- */

leat_status leati_pjrt_check(const leati_pjrt_client *client, PJRT_Error *error, const char *what,
                             leat_error *err) {
    if (error == NULL)
        return LEAT_OK;
    LEATI_PJRT_ARGS(Error_GetCode, code);
    LEATI_PJRT_ARGS(Error_Message, message);
    LEATI_PJRT_ARGS(Error_Destroy, destroy);
    code.a.error = message.a.error = error;
    destroy.a.error = error;
    PJRT_Error *second = client->api->PJRT_Error_GetCode(&code.a);
    client->api->PJRT_Error_Message(&message.a);
    /* Their codes are those of absl, as ours. */
    leat_status status = second == NULL && leati_error_is_code((int64_t)code.a.code)
                             ? (leat_status)code.a.code
                             : LEAT_INTERNAL;
    (void)leati_fail(err, status, "%s: %s: %.*s", client->kind, what, (int)message.a.message_size,
                     message.a.message != NULL ? message.a.message : "");
    client->api->PJRT_Error_Destroy(&destroy.a);
    return status;
}

void leati_pjrt_drop(const leati_pjrt_client *client, PJRT_Error *error) {
    leat_status status = leati_pjrt_check(client, error, "release", &(leat_error){0});
    (void)status;
}

leat_status leati_pjrt_wait(const leati_pjrt_client *client, PJRT_Event *event, const char *what,
                            leat_error *err) {
    if (event == NULL)
        return LEAT_OK;
    LEATI_PJRT_ARGS(Event_Await, await);
    LEATI_PJRT_ARGS(Event_Destroy, destroy);
    await.a.event = event;
    destroy.a.event = event;
    leat_status status = LEATI_PJRT_CALL(client, Event_Await, await, what, err);
    LEATI_PJRT_DROP(client, Event_Destroy, destroy);
    return status;
}

void leati_pjrt_destroy(const leati_pjrt_client *client, PJRT_Buffer *buffer) {
    LEATI_PJRT_ARGS(Buffer_Destroy, destroy);
    if (buffer == NULL)
        return;
    destroy.a.buffer = buffer;
    LEATI_PJRT_DROP(client, Buffer_Destroy, destroy);
}

PJRT_Buffer_Type leati_pjrt_type(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_BOOL: return PJRT_Buffer_Type_PRED;
    case LEAT_INT8: return PJRT_Buffer_Type_S8;
    case LEAT_INT16: return PJRT_Buffer_Type_S16;
    case LEAT_INT32: return PJRT_Buffer_Type_S32;
    case LEAT_INT64: return PJRT_Buffer_Type_S64;
    case LEAT_UINT8: return PJRT_Buffer_Type_U8;
    case LEAT_UINT16: return PJRT_Buffer_Type_U16;
    case LEAT_UINT32: return PJRT_Buffer_Type_U32;
    case LEAT_UINT64: return PJRT_Buffer_Type_U64;
    case LEAT_FLOAT16: return PJRT_Buffer_Type_F16;
    case LEAT_BFLOAT16: return PJRT_Buffer_Type_BF16;
    case LEAT_FLOAT32: return PJRT_Buffer_Type_F32;
    case LEAT_FLOAT64: return PJRT_Buffer_Type_F64;
    case LEAT_COMPLEX64: return PJRT_Buffer_Type_C64;
    case LEAT_COMPLEX128: return PJRT_Buffer_Type_C128;
    default: return PJRT_Buffer_Type_INVALID;
    }
}

/* ---- files ---- */

static bool is_there(char *out, size_t room, const char *folder, const char *file) {
    int size = snprintf(out, room, "%s/%s", folder, file);
    return size > 0 && (size_t)size < room && access(out, R_OK) == 0;
}

static bool find_in_environment(const pjrt_kind *kind, char *out, size_t room) {
    const char *environment = getenv("VIRTUAL_ENV");
    char pattern[4096];
    bool found = false;
    if (environment == NULL)
        return false;
    snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages", environment);
    glob_t places = {0};
    if (glob(pattern, 0, NULL, &places) != 0)
        return false;
    for (size_t p = 0; p < places.gl_pathc && !found; p++)
        for (int i = 0; kind->files[i] != NULL && !found; i++)
            found = is_there(out, room, places.gl_pathv[p], kind->files[i]);
    globfree(&places);
    return found;
}

/* LEAT_PJRT_PLUGIN is a path, for whatever kind, or KIND=PATH. */
static bool find_named(const pjrt_kind *kind, char *out, size_t room) {
    const char *named = getenv("LEAT_PJRT_PLUGIN");
    if (named == NULL || named[0] == '\0')
        return false;
    const char *equals = strchr(named, '=');
    size_t size = equals == NULL ? 0 : (size_t)(equals - named);
    if (equals != NULL && (size != strlen(kind->kind) || strncmp(named, kind->kind, size) != 0))
        return false;
    snprintf(out, room, "%s", equals == NULL ? named : equals + 1);
    return true;
}

static leat_status find_file(const pjrt_kind *kind, char *out, size_t room, leat_error *err) {
    bool found = find_named(kind, out, room);
    for (int f = 0; f < num_folders && !found; f++)
        for (int i = 0; kind->files[i] != NULL && !found; i++)
            found = is_there(out, room, folders[f], kind->files[i]);
    if (found || find_in_environment(kind, out, room))
        return LEAT_OK;
    return leati_fail(
        err, LEAT_NOT_FOUND,
        "there is no PJRT plug-in for %s devices; install the package %s, or name the "
        "plug-in's file in LEAT_PJRT_PLUGIN",
        kind->kind, kind->package);
}

leat_status leati_device_pjrt_search(const char *folder, leat_error *err) {
    leat_status status = LEAT_OK;
    bool known = false;
    pthread_mutex_lock(&lock);
    for (int f = 0; f < num_folders; f++)
        known = known || strcmp(folders[f], folder) == 0;
    if (!known && num_folders == MOST_FOLDERS)
        status = leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "more than %d folders with plug-ins",
                            MOST_FOLDERS);
    else if (!known && (folders[num_folders] = leati_strdup(folder)) == NULL)
        status = leati_no_memory(err);
    else
        num_folders += !known;
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- loading ---- */

/* What is called of a plug-in. */
#define ENTRY(name)                                                                                \
    { #name, offsetof(PJRT_Api, PJRT_##name) }
static const struct entry {
    const char *name;
    size_t offset;
} entries[] = {ENTRY(Error_Destroy),
               ENTRY(Error_Message),
               ENTRY(Error_GetCode),
               ENTRY(Plugin_Initialize),
               ENTRY(Plugin_Attributes),
               ENTRY(Event_Destroy),
               ENTRY(Event_Await),
               ENTRY(Client_Create),
               ENTRY(Client_PlatformName),
               ENTRY(Client_AddressableDevices),
               ENTRY(Client_Compile),
               ENTRY(Client_BufferFromHostBuffer),
               ENTRY(DeviceDescription_Id),
               ENTRY(Device_GetDescription),
               ENTRY(LoadedExecutable_Destroy),
               ENTRY(LoadedExecutable_Execute),
               ENTRY(Buffer_Destroy),
               ENTRY(Buffer_ToHostBuffer)};

static leat_status check_entries(const leati_pjrt_client *client, leat_error *err) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const char *at = (const char *)client->api + entries[i].offset;
        void (*function)(void) = NULL;
        if (entries[i].offset + sizeof function <= client->api->struct_size)
            memcpy(&function, at, sizeof function);
        if (function == NULL)
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "%s has no entry point PJRT_%s; install another one", client->path,
                              entries[i].name);
    }
    return LEAT_OK;
}

static leat_status load(leati_pjrt_client *client, leat_error *err) {
    /* Chatter about what is no error of the user's. */
    (void)setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
    void *library = dlopen(client->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL)
        return leati_fail(err, LEAT_FAILED_PRECONDITION, "the PJRT plug-in %s does not load: %s",
                          client->path, dlerror());
    const PJRT_Api *(*get)(void) = NULL;
    *(void **)&get = dlsym(library, "GetPjrtApi");
    client->api = get != NULL ? get() : NULL;
    if (client->api == NULL)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "%s is no PJRT plug-in: it has no GetPjrtApi",
                          client->path);
    const PJRT_Api_Version *version = &client->api->pjrt_api_version;
    if (version->major_version != PJRT_API_MAJOR || version->minor_version < OLDEST)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "%s has version %d.%d of PJRT; expected %d.%d or later: install a newer "
                          "one",
                          client->path, version->major_version, version->minor_version,
                          PJRT_API_MAJOR, OLDEST);
    LEATI_TRY(check_entries(client, err));
    LEATI_PJRT_ARGS(Plugin_Initialize, initialize);
    return LEATI_PJRT_CALL(client, Plugin_Initialize, initialize, "initialise", err);
}

static void read_versions(leati_pjrt_client *client) {
    LEATI_PJRT_ARGS(Plugin_Attributes, attributes);
    int size = snprintf(client->version, sizeof client->version, "PJRT %d.%d",
                        client->api->pjrt_api_version.major_version,
                        client->api->pjrt_api_version.minor_version);
    if (LEATI_PJRT_CALL(client, Plugin_Attributes, attributes, "attributes", &(leat_error){0}) !=
        LEAT_OK)
        return;
    for (size_t i = 0; i < attributes.a.num_attributes; i++) {
        const PJRT_NamedValue *value = &attributes.a.attributes[i];
        static const char wanted[] = "stablehlo_current_version";
        if (value->type == PJRT_NamedValue_kInt64List && value->value_size == 3 &&
            value->name_size == sizeof wanted - 1 &&
            memcmp(value->name, wanted, sizeof wanted - 1) == 0)
            snprintf(client->version + size, sizeof client->version - (size_t)size,
                     ", StableHLO %d.%d.%d", (int)value->int64_array_value[0],
                     (int)value->int64_array_value[1], (int)value->int64_array_value[2]);
    }
}

static leat_status list_devices(leati_pjrt_client *client, leat_error *err) {
    LEATI_PJRT_ARGS(Client_AddressableDevices, devices);
    LEATI_PJRT_ARGS(Client_PlatformName, platform);
    devices.a.client = platform.a.client = client->client;
    LEATI_TRY(LEATI_PJRT_CALL(client, Client_AddressableDevices, devices, "list devices", err));
    LEATI_TRY(LEATI_PJRT_CALL(client, Client_PlatformName, platform, "name the platform", err));
    client->devices = devices.a.addressable_devices;
    client->num_devices = (int)devices.a.num_addressable_devices;
    snprintf(client->platform, sizeof client->platform, "%.*s", (int)platform.a.platform_name_size,
             platform.a.platform_name);
    return LEAT_OK;
}

static leat_status make_client(leati_pjrt_client *client, bool of_host, leat_error *err) {
    PJRT_NamedValue count = {.struct_size = sizeof count,
                             .name = "cpu_device_count",
                             .name_size = strlen("cpu_device_count"),
                             .type = PJRT_NamedValue_kInt64,
                             .int64_value = num_cpus,
                             .value_size = 1};
    /* A GPU's client would take most of its memory at once. */
    PJRT_NamedValue reserve = {.struct_size = sizeof reserve,
                               .name = "preallocate",
                               .name_size = strlen("preallocate"),
                               .type = PJRT_NamedValue_kBool,
                               .bool_value = false,
                               .value_size = 1};
    LEATI_PJRT_ARGS(Client_Create, create);
    create.a.create_options = of_host ? &count : &reserve;
    create.a.num_options = of_host || strcmp(client->kind, "GPU") == 0;
    LEATI_TRY(LEATI_PJRT_CALL(client, Client_Create, create, "no client of the plug-in", err));
    client->client = create.a.client;
    return list_devices(client, err);
}

static leat_status open_kind(const pjrt_kind *kind, leati_pjrt_client **out, leat_error *err) {
    char path[4096];
    LEATI_TRY(find_file(kind, path, sizeof path, err));
    leati_pjrt_client *client = leati_alloc_zero(1, sizeof *client);
    if (client == NULL || (client->path = leati_strdup(path)) == NULL) {
        leati_free(client);
        return leati_no_memory(err);
    }
    client->kind = kind->kind;
    leat_status status = load(client, err);
    if (status == LEAT_OK)
        read_versions(client);
    if (status == LEAT_OK)
        status = make_client(client, kind->of_host, err);
    if (status != LEAT_OK) {
        leati_free(client->path);
        leati_free(client);
        return status;
    }
    *out = client;
    return LEAT_OK;
}

leat_status leati_pjrt_client_get(const char *kind, leati_pjrt_client **out, leat_error *err) {
    leat_status status = LEAT_OK;
    int k = 0;
    while (k < NUM_KINDS && strcmp(kinds[k].kind, kind) != 0)
        k++;
    if (k == NUM_KINDS)
        return leati_refuse(err, VALUE, "devices of kind \"%s\"; expected CPU, GPU, TPU or XLA_CPU",
                            kind);
    pthread_mutex_lock(&lock);
    if (clients[k] == NULL)
        status = open_kind(&kinds[k], &clients[k], err);
    *out = clients[k];
    pthread_mutex_unlock(&lock);
    return status;
}

leat_status leati_device_pjrt_set_cpus(int count, leat_error *err) {
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&lock);
    if (clients[NUM_KINDS - 1] != NULL && count != num_cpus)
        status =
            leati_fail(err, LEAT_FAILED_PRECONDITION,
                       "there are %d XLA_CPU devices in use; set their number before the first "
                       "of them is used",
                       num_cpus);
    else
        num_cpus = count;
    pthread_mutex_unlock(&lock);
    return status;
}

leat_status leati_device_pjrt_find(const char *kind, leati_device_pjrt_info *out, leat_error *err) {
    leati_pjrt_client *client = NULL;
    LEATI_TRY(leati_pjrt_client_get(kind, &client, err));
    *out = (leati_device_pjrt_info){.num_devices = client->num_devices,
                                    .platform = client->platform,
                                    .version = client->version,
                                    .path = client->path};
    return LEAT_OK;
}
