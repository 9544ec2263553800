/* include/plexor/store.h - campaigns: generated inputs in a folder that cannot be lost
 *
 *     px_campaign *c = NULL;
 *     PX_TRY(px_campaign_open("run.campaign", PX_CAMPAIGN_CREATE, &c, err));   // empty, locked
 *     PX_TRY(px_campaign_identify(c, &identity, err));                         // whose it is
 *     for (...) {                                                              // a batch
 *         PX_TRY(px_campaign_put(c, &input, pixels, &id, err));
 *         PX_TRY(px_campaign_put_coverage(c, step, "kmnc", value, seconds, err));
 *         PX_TRY(px_campaign_commit(c, err));                                  // now count it
 *     }
 *     px_campaign_close(c);
 *
 * A campaign is a folder with `campaign.db` (SQLite in WAL mode); a folder is one iff it holds that
 * file. Any number of processes may read while one writes. A process that dies at any moment loses
 * the batch it had not committed, nothing else. Everything that is read is checked: a file that was
 * damaged, or made to do harm, gives errors. docs/campaign.md has the tables.
 *
 * A px_campaign belongs to one thread at a time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_STORE_H
#define PLEXOR_STORE_H

#include <plexor/closeness.h>

PX_BEGIN_DECLS

typedef struct px_campaign px_campaign;

/* --- opening --------------------------------------------------------------------------------- */

typedef enum px_campaign_mode {
    PX_CAMPAIGN_READ,   /* reading, maybe beside the process that writes it */
    PX_CAMPAIGN_CREATE, /* a new one: the folder is absent, or empty */
    PX_CAMPAIGN_RESUME, /* one that is there, maybe without any content yet */
    PX_CAMPAIGN_FRESH,  /* a new one; the campaign that is there is removed, nothing else is */
} px_campaign_mode;

/* CREATE, RESUME and FRESH lock the folder until px_campaign_close() or the end of the process;
 * where another process holds it that is PX_E_USAGE with its pid. RESUME brings an older schema up
 * to date; a newer one is PX_E_UNSUPPORTED. A file that is a symbolic link is PX_E_INPUT for all
 * who write. A damaged file is PX_E_INPUT where it cannot be opened at all; see px_campaign_check()
 * for the rest. On PX_OK the caller owns *out. */
PX_API px_status px_campaign_open(const char *folder, px_campaign_mode mode, px_campaign **out,
                                  px_error *err);
/* The names of the files that a campaign has in its folder. */
PX_API const char *const *px_campaign_names(size_t *count);
/* Batches that were not committed are gone. NULL is fine. */
PX_API void px_campaign_close(px_campaign *campaign);
PX_API const char *px_campaign_folder(const px_campaign *campaign);
PX_API bool px_campaign_is(const char *folder); /* whether it holds a campaign.db */

/* What a campaign is about. Resuming with another one is refused. */
typedef struct px_campaign_identity {
    uint64_t model_hash, data_hash; /* px_model_hash(), px_dataset_hash() */
    uint64_t seed;
    px_dtype dtype; /* of pixels: PX_UINT8 or PX_FLOAT32 */
    px_shape shape; /* of an input, as px_dataset_shape() has it: [C,H,W] for pictures */
    int classes;    /* of the network; 0: unknown */
    /* One JSON object of all that decides the content (guide, policy, neurons ...), and nothing
     * that does not (threads, budget). At most 64 KiB. */
    const char *settings;
} px_campaign_identity;

/* Values in an input: the product of the shape. 0 without an identity. */
PX_API size_t px_campaign_size(const px_campaign *campaign);

/* --- inputs ---------------------------------------------------------------------------------- */

typedef enum px_input_kind {
    PX_INPUT_SEED = 1, /* from the data set */
    PX_INPUT_KEPT = 2, /* generated, accepted, not faulty */
    PX_INPUT_FAULT = 4,
    PX_INPUT_ANY = 7, /* for choosing, as are sums of the others */
} px_input_kind;

typedef struct px_campaign_input { /* {0} with a kind is a valid start */
    int64_t id;                    /* 1, 2, 3 ... in the order of putting; no gaps */
    px_input_kind kind;
    int64_t parent, root; /* ids; 0 for seeds, which have neither */
    int64_t data_index;   /* of the root in its data set; -1: unknown */
    int64_t label;        /* the root's; -1: none */
    int64_t prediction;   /* of the judged form; -1: unknown */
    double confidence;    /* NaN: unknown */
    /* Against the root (or what the engine compares with): changed values, and distances in the
     * units of its settings; NaN: unknown. */
    int64_t l0;
    double l2, linf;
    int64_t step; /* when: executions before it */
    int64_t twin; /* the fault that this one nearly repeats; 0: it is one of its own */
    /* How it came from its root. A JSON array of px_drawn_text() is replayed link by link; any
     * other JSON says how an engine made it, and the stored pixels are what there is. NULL or "":
     * none. Reading: borrowed until the next call. */
    const char *chain;
    double found_s; /* seconds of running since the campaign began */
    /* Of faults: how near it is to its root. Not measured: NaN when read; px_campaign_measure()
     * then does so. */
    bool measured;
    px_closeness near;
    /* Of the root in its data set, a file name for one; "" where it has none or it is unknown.
     * Put with seeds. Reading: borrowed until the next call. */
    const char *name;
} px_campaign_input;

/* Adds an input to the batch; the first call after a commit begins one. `pixels` are the values of
 * the judged form in the campaign's type and shape (planes, CHW; copied). `input->id` is not looked
 * at; *id (may be NULL) is the one it got. Parent and root are committed, or before it in the
 * batch. After any failure the whole batch is gone, and the campaign can be used or closed. */
PX_API px_status px_campaign_put(px_campaign *campaign, const px_campaign_input *input,
                                 const void *pixels, int64_t *id, px_error *err);
/* Facts about runs ("executions", "command"): outside of what two equal runs have in common. A run
 * over a given number of inputs (attack, synthesize) has how many it is to take and how many it has
 * taken: it is finished when they are the same. */
#define PX_CAMPAIGN_INPUTS_PLANNED "inputs_planned"
#define PX_CAMPAIGN_INPUTS_DONE "inputs_done"
/* Named bytes, the newest only: a profile ("profile"), a coverage or policy state. At most
 * PX_CAMPAIGN_BLOB_MOST; stored compressed. */
#define PX_CAMPAIGN_BLOB_MOST ((size_t)1 << 29)

/* Makes the batch permanent; nothing to commit is fine. PX_E_IO for a full disk: the batch is gone,
 * all that was committed stays. Count inputs after this, never before. */
PX_API px_status px_campaign_commit(px_campaign *campaign, px_error *err);

/* --- reading ------------------------------------------------------------------------------------
 *
 * A writer sees its own batch, others what is committed.
 */

/* The value of a run key; the caller frees *out, NULL where there is none. */
PX_API px_status px_campaign_get(px_campaign *campaign, const char *key, char **out, px_error *err);
/* `otherwise` where there is none, or no number. */
PX_API double px_campaign_get_real(px_campaign *campaign, const char *key, double otherwise);

/* The highest id; 0: no inputs. In a damaged file it may be an upper bound. */
PX_API px_status px_campaign_last(px_campaign *campaign, int64_t *id, px_error *err);
/* Reads one input; `pixels` (may be NULL) has room for px_campaign_size() values of its type.
 * PX_E_USAGE: there is none of that id. PX_E_INPUT: it is damaged, others may not be. */
PX_API px_status px_campaign_read(px_campaign *campaign, int64_t id, px_campaign_input *out,
                                  void *pixels, px_error *err);
/* The next input of these kinds after id `after`; out->id is 0 behind the last. Damaged inputs are
 * stepped over and added to *damaged; with NULL they are PX_E_INPUT. */
PX_API px_status px_campaign_next(px_campaign *campaign, int64_t after, unsigned kinds,
                                  px_campaign_input *out, void *pixels, int64_t *damaged,
                                  px_error *err);
/* Ids of these kinds: seeds, kept inputs, then faults as px_closeness_compare() sorts them, the
 * older one first among equals. `least` leaves out faults that are less
 * near in either (NULL, or 0: none). The caller frees *ids. Damaged inputs as px_campaign_next().
 */
PX_API px_status px_campaign_list(px_campaign *campaign, unsigned kinds, const px_closeness *least,
                                  int64_t **ids, size_t *count, int64_t *damaged, px_error *err);

/* Ids from an input back to its root, itself first; the caller frees *ids. */
PX_API px_status px_campaign_lineage(px_campaign *campaign, int64_t id, int64_t **ids,
                                     size_t *count, px_error *err);

typedef struct px_coverage_point {
    int64_t step;
    double value, at_s;
} px_coverage_point;

typedef struct px_campaign_counts { /* of what is committed; CSM D.7 */
    int64_t seeds, kept, faults;
    int64_t outputs;       /* kept + faults */
    int64_t unique_faults; /* those without a twin */
    int64_t measured;      /* faults whose closeness to their root is stored */
    int64_t close_faults;  /* of them, those that px_is_close() */
    int64_t fault_types;   /* pairs (label, prediction) among them */
    int64_t classes;       /* that faults are predicted as */
    double oi, oi_outputs; /* impartiality: normalised entropy of the predictions; 0 for one class;
                            * NaN without any */
    double rft;            /* faults / outputs; NaN without outputs */
    double fre;            /* seconds per fault; NaN without faults or seconds */
    int64_t executions;    /* run key "executions" */
    double seconds;        /* run key "seconds" */
} px_campaign_counts;
PX_API px_status px_campaign_count(px_campaign *campaign, px_campaign_counts *out, px_error *err);

/* Errors as DeepSensor counts them, of whatever engine (LGR B.6, B.7). An example is an output, the
 * last one of a seed what its search ended with. */
typedef struct px_error_counts {
    int64_t seeds, examples;
    int64_t errors;     /* #Test errors, E_any: examples that are misclassified */
    int64_t not_stored; /* further ones that repeat others and were only counted */
    int64_t categories; /* #Error categories: distinct wrong labels of a seed, summed over seeds */
    double categories_per_seed; /* #Average categories; NaN without seeds */
    int64_t polluted_class;     /* -1: unknown, and what follows from it is 0 */
    int64_t polluted;           /* E_pol: errors that have the polluted class as their answer */
    int64_t last_examples, last_errors, last_polluted; /* the same, of the last ones only */
    /* Categories of all places that swarms looked at, not of examples alone; -1: no example tells.
     */
    int64_t place_categories;
    /* How far errors are from their seeds, means: distances as px_campaign_input has them, and
     * structural similarity; NaN: not known. */
    double l2, linf, similarity;
} px_error_counts;
/* polluted_class: what training data with a patch were labelled as; -1: as the campaign has it,
 * under run key PX_CAMPAIGN_POLLUTED_CLASS. */
#define PX_CAMPAIGN_POLLUTED_CLASS "polluted_class"

/* --- chains ---------------------------------------------------------------------------------- */

#define PX_CHAIN_MOST 1024 /* links */

typedef enum px_replayed {
    PX_REPLAY_SAME,   /* the chain gives the stored pixels, bit for bit */
    PX_REPLAY_STORED, /* there is no chain to replay: a seed, or made by gradients */
    PX_REPLAY_DIFFERS,
} px_replayed;

/* --- out of the database --------------------------------------------------------------------- */

typedef struct px_export_options {
    unsigned kinds; /* px_input_kind, summed */
    bool png;       /* FOLDER/faults/LABEL-as-PREDICTION/ID.png, kept/LABEL/ and seeds/LABEL/ */
    bool npz;       /* inputs.npz: x (N, C, H, W), y, predictions, ids, indices */
    bool csv;       /* index.csv: a row per input, all that is known of it */
    bool sheet;     /* sheet.png: the first of them, at most 200, faults beside their originals */
    px_closeness least; /* faults that are less near to their originals are left out; 0: none is */
    bool fresh;         /* in place of what an earlier export wrote there */
} px_export_options;
PX_API px_export_options px_export_options_default(void); /* faults, as all of those */

typedef struct px_exported {
    int64_t inputs;  /* written */
    int64_t damaged; /* stepped over; -1: some, and nobody knows how many */
    bool pictures;   /* false: the inputs are no 8-bit grey or RGB pictures */
} px_exported;

/* Writes to a new folder what can be read of a campaign, damaged or not, in the order of
 * px_campaign_list(); the folder appears whole (<internal/folder.h>). PX_E_USAGE: there is such a
 * folder; PX_E_INPUT: there is nothing to write; PX_E_IO: the disk could not be read, which says
 * nothing of what is on it. */
PX_API px_status px_campaign_export(px_campaign *campaign, const char *folder,
                                    const px_export_options *options, px_exported *out,
                                    px_error *err);

/* --- for the tools of AFL++ ------------------------------------------------------------------ */

typedef struct px_campaign_figures { /* what only the running loop knows */
    double run_s;                    /* since the campaign began, without pauses */
    int64_t cycles, cycles_without_finds;
    int64_t executions;
    double executions_per_s, executions_per_s_last_minute;
    int64_t queue, pending; /* entries; those never picked */
    int64_t current;        /* the entry at work, from 0 */
    int64_t found;          /* entries that are not seeds */
    int64_t depth;          /* of the longest chain */
    int64_t faults, unique_faults;
    double coverage; /* 0..1 */
    uint64_t covered, total;
    double last_find_s, last_fault_s; /* on the clock of run_s; negative: never */
    int64_t executions_since_fault;
    const char *banner;  /* "resnet20 kmnc"; letters beyond A-Za-z0-9 and ._+- become _ */
    const char *command; /* as typed */
} px_campaign_figures;

/* An empty campaign gets the identity, in a transaction of its own. Any other must have the same:
 * PX_E_MISMATCH, saying what differs (for settings the first key). */
PX_API px_status px_campaign_identify(px_campaign *campaign, const px_campaign_identity *identity,
                                      px_error *err);

PX_API px_status px_campaign_put_coverage(px_campaign *campaign, int64_t step,
                                          const char *criterion, double value, double at_s,
                                          px_error *err);

/* False: it has none yet. `settings` is borrowed. */
PX_API bool px_campaign_identity_get(const px_campaign *campaign, px_campaign_identity *out);

PX_END_DECLS
#endif
