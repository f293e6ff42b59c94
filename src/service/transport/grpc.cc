/* The module libleat_grpc.so: gRPC's C++ interface behind the functions of grpc_module.h. It knows
 * bytes and calls; records, messages and failures are the host's business (remote*.c).
 *
 * gRPC's callback interface is used, with byte buffers and no generated code: its threads, at most
 * 16, run the reactions. A pipe is shared by gRPC, until OnDone, and the host, until pipe_free. Its
 * lock orders the host's operations against the end of the call: after a read that failed nothing
 * is started any more. The lock is held while an operation is started, which calls nobody. No
 * exception escapes: what runs out of memory ends the process in gRPC itself, too. */
#include "service/transport/grpc_module.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>

namespace {

const leati_grpc_host *host;

const char PATH[] = "/leat.Service/";
const char TOKEN_KEY[] = "leat-token";
const char STREAM_KEY[] = "leat-stream";

/* ---- bytes ---- */

void release_piece(void *owner) {
    if (owner != nullptr)
        host->release(owner);
}

grpc::Slice slice_of(const leati_grpc_piece &piece) {
    if (piece.owner == nullptr)
        return grpc::Slice(piece.data, piece.size);
    return grpc::Slice(const_cast<void *>(piece.data), piece.size, release_piece, piece.owner);
}

grpc::ByteBuffer buffer_of(const leati_grpc_piece *pieces, size_t num_pieces) {
    std::vector<grpc::Slice> slices;
    slices.reserve(num_pieces);
    for (size_t i = 0; i < num_pieces; i++)
        slices.push_back(slice_of(pieces[i]));
    return grpc::ByteBuffer(slices.data(), slices.size());
}

/* Calls with the bytes of `buffer`, in order. */
template <typename Call> void with_bytes(const grpc::ByteBuffer &buffer, Call call) {
    static const leati_grpc_bytes none = {nullptr, 0};
    std::vector<grpc::Slice> slices;
    std::vector<leati_grpc_bytes> bytes;
    if (buffer.Valid() && !buffer.Dump(&slices).ok())
        slices.clear();
    for (const grpc::Slice &slice : slices)
        bytes.push_back({slice.begin(), slice.size()});
    call(bytes.empty() ? &none : bytes.data(), bytes.size());
}

template <typename Call> void with_end(const grpc::Status &status, Call call) {
    std::string text = status.error_message(), details = status.error_details();
    leati_grpc_end end = {
        static_cast<int>(status.error_code()), text.c_str(), {details.data(), details.size()}};
    call(&end);
}

grpc::Status status_of(const leati_grpc_end &end) {
    if (end.code == 0)
        return grpc::Status::OK;
    return grpc::Status(static_cast<grpc::StatusCode>(end.code), end.text,
                        std::string(static_cast<const char *>(end.details.data),
                                    end.details.data != nullptr ? end.details.size : 0));
}

} // namespace

/* ---- pipes ---- */

struct leati_grpc_pipe {
    virtual ~leati_grpc_pipe() = default;
    virtual void start_read() = 0; /* lock */
    virtual void start_write() = 0;
    virtual void try_cancel() = 0;

    bool read() {
        std::lock_guard<std::mutex> guard(lock);
        if (over || reading)
            return !over;
        reading = true;
        start_read();
        return true;
    }

    bool send(const leati_grpc_piece *pieces, size_t num_pieces) {
        grpc::ByteBuffer bytes = buffer_of(pieces, num_pieces);
        std::lock_guard<std::mutex> guard(lock);
        if (over)
            return false;
        outgoing.Swap(&bytes);
        start_write();
        return true;
    }

    void cancel() {
        std::lock_guard<std::mutex> guard(lock);
        if (over)
            return;
        try_cancel();
        /* The end of the call shows in a read. */
        if (!reading) {
            reading = true;
            dropping = true;
            start_read();
        }
    }

    void unref() {
        if (references.fetch_sub(1) == 1)
            delete this;
    }

  protected:
    /* Nothing is started any more. */
    void set_over() {
        std::lock_guard<std::mutex> guard(lock);
        over = true;
    }

    void read_done() {
        {
            std::lock_guard<std::mutex> guard(lock);
            reading = false;
            if (dropping && !over) {
                reading = true;
                start_read();
                return;
            }
        }
        with_bytes(incoming, [this](const leati_grpc_bytes *slices, size_t num_slices) {
            host->received(context, slices, num_slices);
        });
    }

    void write_done(bool ok) {
        outgoing.Clear();
        host->sent(context, ok);
    }

    void *context = nullptr;
    grpc::ByteBuffer incoming, outgoing; /* of the operation under way */
    std::mutex lock;
    bool reading = false, over = false, dropping = false; /* lock */
    std::atomic<int> references{2};
};

/* What uses the connection holds references to gRPC's channel, the last of which may not go on one
 * of gRPC's threads: it waits for these. So the connection counts its users, and whoever frees it
 * waits for them. */
struct leati_grpc_connection {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<grpc::GenericStub> stub;
    std::string token;
    bool has_token = false;

    std::unique_ptr<grpc::ClientContext> begin() {
        std::unique_ptr<grpc::ClientContext> call(new grpc::ClientContext);
        if (has_token)
            call->AddMetadata(TOKEN_KEY, token);
        std::lock_guard<std::mutex> guard(lock_);
        users_++;
        return call;
    }

    void leave() {
        std::lock_guard<std::mutex> guard(lock_);
        if (--users_ == 0)
            left_.notify_all();
    }

    void wait() {
        std::unique_lock<std::mutex> guard(lock_);
        left_.wait(guard, [this] { return users_ == 0; });
    }

  private:
    std::mutex lock_;
    std::condition_variable left_;
    int users_ = 0; /* lock_ */
};

namespace {

class ClientPipe final : public leati_grpc_pipe,
                         public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
  public:
    ClientPipe(leati_grpc_connection *connection, const char *method, void *of_host)
        : connection_(connection), call_(connection->begin()) {
        context = of_host;
        call_->AddMetadata(STREAM_KEY, "1");
        connection->stub->PrepareBidiStreamingCall(call_.get(), std::string(PATH) + method, {},
                                                   this);
        AddHold();
        reading = true;
        StartRead(&incoming);
    }

    void start() {
        StartCall();
    }

    void OnReadDone(bool ok) override {
        if (ok) {
            read_done();
            return;
        }
        set_over();
        RemoveHold();
    }

    void OnWriteDone(bool ok) override {
        write_done(ok);
    }

    void OnDone(const grpc::Status &status) override {
        with_end(status, [this](const leati_grpc_end *end) { host->ended(context, end); });
        call_.reset();
        connection_->leave();
        unref();
    }

  private:
    void start_read() override {
        StartRead(&incoming);
    }
    void start_write() override {
        StartWrite(&outgoing);
    }
    void try_cancel() override {
        call_->TryCancel();
    }

    leati_grpc_connection *connection_;
    std::unique_ptr<grpc::ClientContext> call_; /* until OnDone */
};

class ServerPipe final : public leati_grpc_pipe, public grpc::ServerGenericBidiReactor {
  public:
    ServerPipe(grpc::GenericCallbackServerContext *call, void *server) : call_(call) {
        leati_grpc_incoming in = {};
        std::string path = call->method(), peer = call->peer(), token;
        const size_t prefix = sizeof PATH - 1;
        in.method = path.compare(0, prefix, PATH) == 0 ? path.c_str() + prefix : "";
        in.peer = peer.c_str();
        const auto &metadata = call->client_metadata();
        auto found = metadata.find(TOKEN_KEY);
        if (found != metadata.end()) {
            token.assign(found->second.data(), found->second.size());
            in.token = token.c_str();
        }
        in.streams = metadata.find(STREAM_KEY) != metadata.end();
        int code = 0;
        char text[600] = "";
        context = host->incoming(server, this, &in, &code, text, sizeof text);
        if (context == nullptr)
            refuse(code, text);
    }

    void finish(const grpc::Status &status) {
        set_over();
        Finish(status);
    }

    void answer(leati_grpc_piece piece) {
        grpc::ByteBuffer bytes = buffer_of(&piece, 1);
        set_over();
        outgoing.Swap(&bytes);
        StartWriteAndFinish(&outgoing, {}, grpc::Status::OK);
    }

    void OnReadDone(bool ok) override {
        if (ok)
            read_done();
        else if (context != nullptr)
            host->received(context, nullptr, 0);
    }

    void OnWriteDone(bool ok) override {
        write_done(ok);
    }

    void OnCancel() override {
        if (context != nullptr)
            host->cancelled(context);
    }

    void OnDone() override {
        static const leati_grpc_end end = {};
        if (context != nullptr)
            host->ended(context, &end);
        unref();
    }

  private:
    /* The host knows nothing of it. */
    void refuse(int code, const char *text) {
        references.fetch_sub(1);
        finish(grpc::Status(static_cast<grpc::StatusCode>(code), text));
    }

    void start_read() override {
        StartRead(&incoming);
    }
    void start_write() override {
        StartWrite(&outgoing);
    }
    void try_cancel() override {
        call_->TryCancel();
    }

    grpc::GenericCallbackServerContext *call_;
};

class Service final : public grpc::CallbackGenericService {
  public:
    explicit Service(void *of_host) : context_(of_host) {
    }

    grpc::ServerGenericBidiReactor *
    CreateReactor(grpc::GenericCallbackServerContext *call) override {
        return new ServerPipe(call, context_);
    }

  private:
    void *context_;
};

} // namespace

struct leati_grpc_server {
    explicit leati_grpc_server(void *context) : service(context) {
    }

    Service service;
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
    std::unique_ptr<grpc::Server> server; /* goes first */
};

/* ---- calls ---- */

struct leati_grpc_call {
    leati_grpc_connection *connection;
    std::unique_ptr<grpc::ClientContext> call; /* lock; until it is done */
    std::mutex lock;
    grpc::ByteBuffer request, answer;
    void *context = nullptr;
    std::atomic<int> references{2};

    void unref() {
        if (references.fetch_sub(1) == 1)
            delete this;
    }

    void done(const grpc::Status &status) {
        with_end(status, [this](const leati_grpc_end *end) {
            with_bytes(answer, [&](const leati_grpc_bytes *slices, size_t num_slices) {
                host->answered(context, end, slices, num_slices);
            });
        });
        request.Clear();
        {
            std::lock_guard<std::mutex> guard(lock);
            call.reset();
        }
        connection->leave();
        unref();
    }

    void cancel() {
        std::lock_guard<std::mutex> guard(lock);
        if (call != nullptr)
            call->TryCancel();
    }
};

namespace {

leati_grpc_call *start_call(leati_grpc_connection *connection, const char *method,
                            leati_grpc_piece request, int64_t ms, void *context) {
    auto *started = new leati_grpc_call;
    started->connection = connection;
    started->context = context;
    started->request = buffer_of(&request, 1);
    started->call = connection->begin();
    if (ms >= 0)
        started->call->set_deadline(std::chrono::system_clock::now() +
                                    std::chrono::milliseconds(ms));
    connection->stub->UnaryCall(started->call.get(), std::string(PATH) + method, {},
                                &started->request, &started->answer,
                                [started](grpc::Status status) { started->done(status); });
    return started;
}

void cancel_call(leati_grpc_call *call) {
    call->cancel();
}

void free_call(leati_grpc_call *call) {
    call->unref();
}

/* ---- servers and connections ---- */

std::string text_of(const char *text) {
    return text != nullptr ? text : "";
}

std::shared_ptr<grpc::ServerCredentials> server_credentials(const leati_grpc_security &security) {
    if (!security.secure)
        return grpc::InsecureServerCredentials();
    grpc::SslServerCredentialsOptions options(
        security.ca != nullptr ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                               : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
    options.pem_root_certs = text_of(security.ca);
    options.pem_key_cert_pairs.push_back({text_of(security.key), text_of(security.cert)});
    return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> client_credentials(const leati_grpc_security &security) {
    if (!security.secure)
        return grpc::InsecureChannelCredentials();
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = text_of(security.ca);
    options.pem_private_key = text_of(security.key);
    options.pem_cert_chain = text_of(security.cert);
    return grpc::SslCredentials(options);
}

/* An acceptor of connections does not tell whether gRPC takes its credentials; a port does. */
bool takes_credentials(const leati_grpc_security &security) {
    Service service(nullptr);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.RegisterCallbackGenericService(&service);
    builder.AddListeningPort("127.0.0.1:0", server_credentials(security), &port);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    return server != nullptr && port > 0;
}

leati_grpc_server *serve(const leati_grpc_security *security, const leati_grpc_argument *arguments,
                         size_t num_arguments, void *context) {
    if (security->secure && !takes_credentials(*security))
        return nullptr;
    std::unique_ptr<leati_grpc_server> made(new leati_grpc_server(context));
    grpc::ServerBuilder builder;
    for (size_t i = 0; i < num_arguments; i++)
        if (arguments[i].text != nullptr)
            builder.AddChannelArgument(arguments[i].name, std::string(arguments[i].text));
        else
            builder.AddChannelArgument(arguments[i].name, arguments[i].number);
    made->acceptor = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        server_credentials(*security));
    builder.RegisterCallbackGenericService(&made->service);
    made->server = builder.BuildAndStart();
    return made->server != nullptr ? made.release() : nullptr;
}

void take_connection(leati_grpc_server *server, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters given;
    given.fd = connection;
    server->acceptor->HandleNewConnection(&given);
}

void close_server(leati_grpc_server *server, int64_t ms) {
    server->server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(ms));
    server->server->Wait();
    delete server;
}

leati_grpc_connection *connect_to(const char *target, const char *token,
                                  const leati_grpc_security *security,
                                  const leati_grpc_argument *arguments, size_t num_arguments) {
    grpc::ChannelArguments args;
    for (size_t i = 0; i < num_arguments; i++)
        if (arguments[i].text != nullptr)
            args.SetString(arguments[i].name, arguments[i].text);
        else
            args.SetInt(arguments[i].name, arguments[i].number);
    auto *made = new leati_grpc_connection;
    made->channel = grpc::CreateCustomChannel(target, client_credentials(*security), args);
    made->stub.reset(new grpc::GenericStub(made->channel));
    made->has_token = token != nullptr;
    made->token = text_of(token);
    return made;
}

void free_connection(leati_grpc_connection *connection) {
    connection->wait();
    delete connection;
}

/* ---- the tables ---- */

leati_grpc_pipe *open_pipe(leati_grpc_connection *connection, const char *method, void *context) {
    auto *pipe = new ClientPipe(connection, method, context);
    pipe->start();
    return pipe;
}

bool pipe_read(leati_grpc_pipe *pipe) {
    return pipe->read();
}

bool pipe_send(leati_grpc_pipe *pipe, const leati_grpc_piece *pieces, size_t num_pieces) {
    return pipe->send(pieces, num_pieces);
}

void pipe_finish(leati_grpc_pipe *pipe, const leati_grpc_end *end) {
    static_cast<ServerPipe *>(pipe)->finish(status_of(*end));
}

void pipe_answer(leati_grpc_pipe *pipe, leati_grpc_piece answer) {
    static_cast<ServerPipe *>(pipe)->answer(answer);
}

void pipe_cancel(leati_grpc_pipe *pipe) {
    pipe->cancel();
}

void pipe_free(leati_grpc_pipe *pipe) {
    pipe->unref();
}

/* gRPC writes to stderr what it finds wrong; leat's errors say it. */
void drop_line(gpr_log_func_args *) {
}

void enter(const leati_grpc_host *given) {
    host = given;
    if (std::getenv("GRPC_VERBOSITY") == nullptr)
        gpr_set_log_function(drop_line);
}

} // namespace

LEATI_MODULE_SHOWN const leati_grpc_module LEATI_MODULE_TABLE = {
    {LEATI_MODULE_FOR, sizeof(leati_grpc_module)},
    enter,
    serve,
    take_connection,
    close_server,
    connect_to,
    free_connection,
    start_call,
    cancel_call,
    free_call,
    open_pipe,
    pipe_read,
    pipe_send,
    pipe_finish,
    pipe_answer,
    pipe_cancel,
    pipe_free};
