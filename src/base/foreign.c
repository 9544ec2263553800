/* src/base/foreign.c - files of other programs, told by what is in them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/foreign.h"

#include "base/memory.h"

#include <fcntl.h>
#include <plexor/text.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct foreign_file {
    const uint8_t *bytes;
    size_t size;
} foreign_file;

static bool at(const foreign_file *f, size_t offset, const void *magic, size_t length)
{
    return f->size >= offset + length && memcmp(f->bytes + offset, magic, length) == 0;
}

static bool holds(const foreign_file *f, const char *word)
{
    return memmem(f->bytes, f->size, word, strlen(word)) != NULL;
}

static bool is_zip(const foreign_file *f)
{
    return at(f, 0, "PK\3\4", 4);
}

static bool is_torchscript(const foreign_file *f)
{
    return is_zip(f) && holds(f, "/data.pkl") && holds(f, "/code/__torch__");
}

/* Since 1.6 a ZIP archive, before that a pickle of a magic number. */
static bool is_torch(const foreign_file *f)
{
    static const uint8_t number[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                     0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
    return (is_zip(f) && holds(f, "/data.pkl")) ||
           (at(f, 0, "\x80\x02", 2) && at(f, 2, number, sizeof number));
}

static bool is_keras(const foreign_file *f)
{
    return is_zip(f) && (holds(f, "model.weights.h5") || holds(f, "config.json"));
}

static bool is_hdf5(const foreign_file *f)
{
    return at(f, 0, "\x89HDF\r\n\x1a\n", 8);
}

static bool is_tflite(const foreign_file *f)
{
    return at(f, 4, "TFL3", 4);
}

/* Protobuf has no magic: a schema version, then a graph that says where it came from. */
static bool is_saved_model(const foreign_file *f)
{
    return at(f, 0, "\x08\x01\x12", 3) && (holds(f, "saved_model_") || holds(f, "serving_default"));
}

static bool is_graph_def(const foreign_file *f)
{
    return at(f, 0, "\n", 1) && (holds(f, "Placeholder") || holds(f, "\x12\x05"
                                                                     "Const"));
}

static bool is_core_ml(const foreign_file *f)
{
    return at(f, 0, "\x08", 1) && (holds(f, "com.github.apple.coremltools") || holds(f, "CoreML"));
}

/* The length of a header in JSON comes first. */
static bool is_safetensors(const foreign_file *f)
{
    static const uint8_t zeros[4];
    return at(f, 8, "{\"", 2) && at(f, 4, zeros, sizeof zeros) &&
           (holds(f, "\"dtype\"") || holds(f, "\"__metadata__\""));
}

static bool is_gguf(const foreign_file *f)
{
    return at(f, 0, "GGUF", 4);
}

/* Protocols 2 to 5: the number, then an operation that can come first. */
static bool is_pickle(const foreign_file *f)
{
    return at(f, 0, "\x80", 1) && f->size > 2 && f->bytes[1] >= 2 && f->bytes[1] <= 5 &&
           strchr("\x95]}(cKXGNU)", f->bytes[2]) && f->bytes[2];
}

static bool is_npz(const foreign_file *f)
{
    return is_zip(f) && holds(f, ".npy");
}

static bool is_npy(const foreign_file *f)
{
    return at(f, 0, "\x93NUMPY", 6);
}

static bool is_picture(const foreign_file *f)
{
    return at(f, 0, "\x89PNG", 4) || at(f, 0, "\xff\xd8\xff", 3);
}

/* An IR version, then the name of a producer or an opset. */
static bool is_onnx(const foreign_file *f)
{
    return at(f, 0, "\x08", 1) && f->size > 2 && f->bytes[1] > 0 && f->bytes[1] < 32 &&
           (f->bytes[2] == 0x12 || f->bytes[2] == 0x3a || f->bytes[2] == 0x42);
}

static bool is_lfs_pointer(const foreign_file *f)
{
    static const char first[] = "version https://git-lfs.github.com/";
    return at(f, 0, first, strlen(first));
}

static bool is_web_page(const foreign_file *f)
{
    static const char *const first[] = {"<!DOCTYPE html", "<!doctype html", "<html"};
    for (size_t i = 0; i < PX_LEN(first); i++)
        if (at(f, 0, first[i], strlen(first[i])))
            return true;
    return false;
}

#define SAVE_ARRAYS "numpy.savez(\"data.npz\", x=x, y=y)"
#define TORCH_EXPORT "torch.onnx.export(model.eval(), example, \"net.onnx\")"
#define TF_EXPORT "python -m tf2onnx.convert "

/* Asked in this order: the special before the general. NULL: that is what was wanted. */
static const struct {
    bool (*is)(const foreign_file *f);
    const char *what, *network, *data;
} formats[] = {
    {is_torchscript, "a TorchScript archive",
     "export it in Python: torch.onnx.export(torch.jit.load(FILE), example, \"net.onnx\")",
     "a network is no data; give it, exported to ONNX, as the model"},
    {is_torch, "a PyTorch file", "make the model in Python, load this into it, then " TORCH_EXPORT,
     "load it in Python and save arrays: " SAVE_ARRAYS},
    {is_npz, "a NumPy archive", "arrays are data: --data FILE", NULL},
    {is_keras, "a Keras file", "export it: " TF_EXPORT "--keras FILE --output net.onnx",
     "a network is no data; give it, exported to ONNX, as the model"},
    {is_hdf5, "an HDF5 file",
     "if it is a Keras network, export it: " TF_EXPORT "--keras FILE --output net.onnx",
     "save its arrays in Python: " SAVE_ARRAYS},
    {is_tflite, "a TensorFlow Lite file", "export it: " TF_EXPORT "--tflite FILE --output net.onnx",
     "a network is no data; give it, exported to ONNX, as the model"},
    {is_saved_model, "a TensorFlow SavedModel",
     "export its folder: " TF_EXPORT "--saved-model FOLDER --output net.onnx",
     "a network is no data; give it, exported to ONNX, as the model"},
    {is_graph_def, "a TensorFlow graph",
     "export it: " TF_EXPORT "--graphdef FILE --inputs NAME:0 --outputs NAME:0 --output net.onnx",
     "a network is no data; give it, exported to ONNX, as the model"},
    {is_core_ml, "a Core ML file",
     "export the network it was made from to ONNX, as in " TORCH_EXPORT,
     "a network is no data; give it, exported to ONNX, as the model"},
    {is_safetensors, "a safetensors file (weights alone)",
     "make the model in Python, load this into it, then " TORCH_EXPORT
     "; for Hugging Face: optimum-cli export onnx --model FOLDER OUT",
     "load it in Python and save arrays: " SAVE_ARRAYS},
    {is_gguf, "a GGUF file (a language model's weights)",
     "plexor tests classifiers that are ONNX files", "a network is no data"},
    {is_pickle, "a Python pickle",
     "load it in Python and export it: " TORCH_EXPORT ", or skl2onnx for scikit-learn",
     "load it in Python and save arrays: " SAVE_ARRAYS},
    {is_npy, "a NumPy array", "arrays are data: --data FILE", NULL},
    {is_picture, "a picture", "pictures are data: --data FILE", NULL},
    {is_lfs_pointer, "a Git LFS pointer", "fetch the file it stands for: git lfs pull",
     "fetch the file it stands for: git lfs pull"},
    {is_web_page, "a web page", "the download went wrong: get the file itself",
     "the download went wrong: get the file itself"},
    {is_onnx, "an ONNX network", NULL, "a network comes first, without --data"},
};

static px_status foreign_fail(size_t format, pxi_wanted wanted, px_error *err)
{
    const bool network = wanted == PXI_WANTED_NETWORK;
    const char *advice = network ? formats[format].network : formats[format].data;
    if (!advice)
        return PX_OK;
    return px_fail(err, PX_E_UNSUPPORTED, "is %s, not %s: %s", formats[format].what,
                   network ? "an ONNX file" : "a data set", advice);
}

px_status pxi_foreign_check(const void *bytes, size_t size, pxi_wanted wanted, px_error *err)
{
    const foreign_file file = {bytes, size};
    for (size_t i = 0; i < PX_LEN(formats); i++)
        if (formats[i].is(&file))
            return foreign_fail(i, wanted, err);
    return PX_OK;
}

/* A network of TensorFlow is a folder with this file in it. */
static px_status foreign_check_folder(const char *path, pxi_wanted wanted, px_error *err)
{
    struct stat info;
    px_text inner = {0};
    px_text_format(&inner, "%s/saved_model.pb", path);
    const bool found = !px_text_failed(&inner) && stat(px_text_get(&inner), &info) == 0;
    px_text_done(&inner);
    for (size_t i = 0; found && i < PX_LEN(formats); i++)
        if (formats[i].is == is_saved_model)
            return foreign_fail(i, wanted, err);
    return PX_OK;
}

px_status pxi_foreign_check_file(const char *path, pxi_wanted wanted, px_error *err)
{
    enum { HEAD = 1 << 18 };
    struct stat info;
    if (stat(path, &info) != 0)
        return PX_OK;
    if (S_ISDIR(info.st_mode))
        return foreign_check_folder(path, wanted, err);
    const int fd = S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    uint8_t *head = fd >= 0 ? pxi_calloc(HEAD, 1) : NULL;
    const ssize_t size = head ? read(fd, head, HEAD) : 0;
    const px_status status = size > 0 ? pxi_foreign_check(head, (size_t)size, wanted, err) : PX_OK;
    free(head);
    if (fd >= 0)
        close(fd);
    return status;
}
