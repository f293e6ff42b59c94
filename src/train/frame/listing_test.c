/* The tables as JSON: which lines have each property (what Keras' classes do and say:
 * supports_masking, the layers of Keras that prepare data, ...), names, arguments, signatures; and
 * what stands for them without memory. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/alloc.h"
#include "support/json.h"
#include "support/train.h"
#include <ctype.h>
#include <leat/train.h>

static json_t *tables_of(void) {
    leat_error err = {0};
    char *text = leat_parts_json(&err);
    assert_non_null(text);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    leat_text_free(text);
    return root;
}

/* The lines of a table whose property is true. */
static void expect(const json_t *root, const char *table, const char *property, const char *names) {
    char found[4096] = "";
    size_t index;
    json_t *line;
    json_array_foreach(json_object_get(root, table), index, line) {
        assert_true(json_is_boolean(json_object_get(line, property)));
        size_t size = strlen(found);
        if (json_is_true(json_object_get(line, property)))
            snprintf(found + size, sizeof found - size, "%s%s", size > 0 ? " " : "",
                     arrays_text(line, "name"));
    }
    if (strcmp(found, names) != 0)
        fail_msg("%s of %s: expected %s, found %s", property, table, names, found);
}

#define PICTURES_IN_TRAINING                                                                       \
    "RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter RandomContrast "       \
    "RandomCrop RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur "               \
    "RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation " \
    "RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom"

static void properties_are_keras(void **state) {
    (void)state;
    json_t *root = tables_of();
    expect(root, "layers", "merges",
           "Add Average Concatenate Dot Maximum Minimum Multiply Subtract");
    expect(root, "layers", "weights",
           "AlphaDropout AugMix BatchNormalization Conv1D Conv1DTranspose Conv2D Conv2DTranspose "
           "Conv3D Conv3DTranspose CutMix Dense DepthwiseConv1D DepthwiseConv2D Dropout "
           "EinsumDense Embedding GaussianDropout GaussianNoise GroupNormalization "
           "LayerNormalization MixUp Normalization PReLU " PICTURES_IN_TRAINING " RMSNormalization "
           "SeparableConv1D SeparableConv2D Solarization SpatialDropout1D SpatialDropout2D "
           "SpatialDropout3D");
    expect(root, "layers", "freezes", "BatchNormalization");
    expect(root, "layers", "takes_integers",
           "AlphaDropout CategoryEncoding Dropout Embedding GaussianDropout GaussianNoise "
           "SpatialDropout1D SpatialDropout2D SpatialDropout3D");
    expect(root, "layers", "prepares",
           "AugMix AutoContrast CenterCrop ContrastLimitedAdaptiveHistogramEqualization CutMix "
           "Equalization MixUp " PICTURES_IN_TRAINING " Resizing Solarization");
    expect(root, "layers", "masks",
           "Activation AlphaDropout BatchNormalization Dense Dropout ELU GaussianDropout "
           "GaussianNoise GroupNormalization LayerNormalization LeakyReLU Normalization PReLU ReLU "
           "Rescaling Softmax SpatialDropout1D SpatialDropout2D SpatialDropout3D "
           "UnitNormalization");
    expect(root, "layers", "labels", "CutMix MixUp");
    expect(root, "layers", "fixed_last",
           "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose Dense "
           "DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D");
    expect(root, "metrics", "is_mean",
           "Accuracy BinaryAccuracy CategoricalAccuracy ConcordanceCorrelation CosineSimilarity "
           "Mean PearsonCorrelation RootMeanSquaredError SparseCategoricalAccuracy "
           "SparseTopKCategoricalAccuracy TopKCategoricalAccuracy");
    expect(root, "metrics", "keeps_dtypes", "BinaryIoU IoU MeanIoU OneHotIoU OneHotMeanIoU");
    expect(root, "optimizers", "by_variable", "Adafactor Muon ScheduleFreeAdamW");
    expect(root, "optimizers", "shares", "Nadam");
    expect(root, "initializers", "random",
           "GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform Orthogonal "
           "RandomNormal RandomUniform TruncatedNormal VarianceScaling");
    json_decref(root);
}

/* Keras' rule for names of objects: "MaxPooling2D" is "max_pooling2d", "ReLU" "re_lu". */
static void snake_case(const char *name, char *out) {
    for (const char *at = name; *at != '\0'; at++) {
        bool word = isupper((unsigned char)*at) && islower((unsigned char)at[1]);
        bool step =
            isupper((unsigned char)*at) && at > name &&
            (islower((unsigned char)at[-1]) || (at > name && isdigit((unsigned char)at[-1])));
        if (at > name && (word || (step && !isdigit((unsigned char)at[-1]))))
            *out++ = '_';
        *out++ = (char)tolower((unsigned char)*at);
    }
    *out = '\0';
}

static void names_are_keras(void **state) {
    (void)state;
    json_t *root = tables_of(), *line;
    size_t index;
    char name[100];
    json_array_foreach(json_object_get(root, "layers"), index, line) {
        snake_case(arrays_text(line, "name"), name);
        assert_string_equal(arrays_text(line, "prefix"), name);
        /* The dimensions of a kind for 1, 2 or 3 directions, the batch's and the channels. */
        const char *end = strrchr(arrays_text(line, "name"), 'D');
        int rank = (int)json_integer_value(json_object_get(line, "rank"));
        const char *transposed = strstr(arrays_text(line, "name"), "Transpose");
        if (transposed != NULL)
            end = transposed - 1;
        if (end != NULL && end > arrays_text(line, "name") && isdigit((unsigned char)end[-1]))
            assert_int_equal(rank, end[-1] - '0' + 2);
        else
            assert_int_equal(rank, strcmp(name, "repeat_vector") == 0 ? 2 : 0);
    }
    json_array_foreach(json_object_get(root, "metrics"), index, line) {
        const char *kind = arrays_text(line, "name");
        bool one = strcmp(kind, "Mean") == 0 || strcmp(kind, "Sum") == 0;
        assert_int_equal(json_integer_value(json_object_get(line, "values")), one ? 1 : 2);
        assert_string_equal(arrays_text(line, "takes"), one ? "values" : "labels and predictions");
    }
    json_array_foreach(json_object_get(root, "losses"), index, line) {
        const char *kind = arrays_text(line, "name");
        bool classes = strcmp(kind, "CategoricalGeneralizedCrossEntropy") == 0 ||
                       strcmp(kind, "Circle") == 0 ||
                       strcmp(kind, "SparseCategoricalCrossentropy") == 0;
        assert_string_equal(arrays_text(line, "labels"), classes ? "classes"
                                                         : strcmp(kind, "CTC") == 0
                                                             ? "sequences"
                                                             : "predictions");
    }
    json_decref(root);
}

/* The word of a signature, or NULL. */
static const json_t *word_of(const json_t *root, const char *table, const char *kind,
                             const char *word) {
    size_t index, at;
    json_t *line, *one;
    json_array_foreach(json_object_get(root, table), index, line) {
        if (strcmp(arrays_text(line, "name"), kind) != 0)
            continue;
        json_array_foreach(json_object_get(line, "signature"), at, one) {
            if (strcmp(arrays_text(one, "name"), word) == 0)
                return one;
        }
    }
    return NULL;
}

/* Words of signatures have their defaults, also null, and no word is cut or lost. */
static void signatures_are_read(void **state) {
    (void)state;
    json_t *root = tables_of();
    assert_true(
        json_is_null(json_object_get(word_of(root, "layers", "ReLU", "max_value"), "default")));
    assert_null(json_object_get(word_of(root, "layers", "ReLU", "threshold"), "default"));
    assert_non_null(word_of(root, "layers", "Dense", "units"));
    assert_non_null(word_of(root, "layers", "Dense", "bias_constraint"));
    assert_non_null(word_of(root, "layers", "CenterCrop", "data_format"));
    const json_t *factor = word_of(root, "layers", "RandomGrayscale", "factor");
    assert_true(json_number_value(json_object_get(factor, "default")) == 0.5);
    const json_t *name = word_of(root, "losses", "CategoricalGeneralizedCrossEntropy", "name");
    assert_string_equal(json_string_value(json_object_get(name, "default")),
                        "categorical_generalized_cross_entropy");
    assert_null(word_of(root, "layers", "Dense", ""));
    json_decref(root);
}

/* Values of JSON too are from an allocator that fails: first at every place, then at some. (jansson
 * loses a letter where the memory for one that it reads is refused, and goes on.) */
static void survives_failed_values(void **state) {
    (void)state;
    torture_begin();
    torture_json(true);
    int refused = 0;
    bool failed = true;
    for (long n = 1; failed; n += n < 300 ? 1 : 89) {
        leat_error err = {0};
        torture_fail_at(n);
        char *text = leat_parts_json(&err);
        failed = torture_failed();
        torture_fail_at(0);
        assert_int_equal(err.code, text == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK);
        refused += text == NULL;
        leat_text_free(text);
        assert_int_equal(torture_live(), 0);
    }
    assert_true(refused >= 300);
    torture_json(false);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_are_keras),
        cmocka_unit_test(names_are_keras),
        cmocka_unit_test(signatures_are_read),
        cmocka_unit_test(survives_failed_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
