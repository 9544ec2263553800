/* include/plexor/registry.h - what can be chosen by name: criteria, selectors, attacks, ...
 *
 *     for (size_t i = 0; i < px_registry_count(&px_criteria); i++)
 *         puts(px_registry_at(&px_criteria, i)->id);
 *     const px_criterion *nc = px_criterion_find("nc");
 *
 * Everything that has a name begins with the same head, px_entry, and is listed in a registry. What
 * reads a name, lists names, gives advice on one that is not there, or reads settings does so for
 * all registries alike. Any thread may read it; what a program adds of its own (extend.h) comes
 * behind plexor's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_REGISTRY_H
#define PLEXOR_REGISTRY_H

#include <plexor/param.h>

PX_BEGIN_DECLS

typedef struct px_entry {   /* the first member of each descriptor */
    const char *id;         /* "kmnc"; the same in C, on the command line, in JSON */
    const char *title;      /* "k-multisection neuron coverage" */
    const char *source;     /* the paper, "DeepGauge (ASE 2018)"; NULL: has none */
    const px_param *params; /* up to PX_PARAM_END; NULL: has no settings */
    size_t config_size;     /* of the struct that they describe */
} px_entry;

typedef struct px_registry {
    const char *kind, *plural;        /* "criterion", and "criteria" as in 'plexor list criteria' */
    const char *example;              /* "kmnc.k=1000"; NULL: none has settings */
    bool many;                        /* too many to name them all in a sentence */
    size_t count;                     /* plexor's own */
    const px_entry *const *entries;   /* one of the three: pointers, */
    const px_entry *first;            /* or the first of an array of descriptors, */
    size_t stride;                    /* each of this size; or own() below */
    struct px_additions *added;       /* the program's; NULL: it can add none */
    const px_entry *(*own)(size_t i); /* instead of an array: the ith, NULL beyond the last */
} px_registry;

PX_API size_t px_registry_count(const px_registry *registry);
PX_API const px_entry *px_registry_at(const px_registry *registry, size_t i); /* NULL: the end */
PX_API const px_entry *px_registry_find(const px_registry *registry, const char *id); /* or NULL */
/* The same for the first `length` bytes of a text. */
PX_API const px_entry *px_registry_word(const px_registry *registry, const char *text,
                                        size_t length);
/* PX_E_USAGE: "there is no attack 'pgf'; there are fgsm, bim, pgd". Where there are many: "there is
 * no measure 'ochai', did you mean 'ochiai'; 'plexor list measures' names them". */
PX_API px_status px_registry_unknown(const px_registry *registry, const char *text, size_t length,
                                     px_error *err);
/* Finds one, or fails with that advice. */
PX_API px_status px_registry_choose(const px_registry *registry, const char *id,
                                    const px_entry **out, px_error *err);

/* Makes the entry's config: defaults, then what texts "kmnc.k=1000" say, in order. Those for other
 * entries are checked and change nothing; PX_E_USAGE with advice for what names no entry or no
 * setting, and for values out of range. The entry may be one that the registry has not. On PX_OK
 * the caller frees *out. */
PX_API px_status px_entry_configure(const px_registry *registry, const px_entry *entry,
                                    const char *const *texts, size_t count, void **out,
                                    px_error *err);
/* One more text. */
PX_API px_status px_entry_set(const px_registry *registry, const px_entry *entry, const char *text,
                              void *config, px_error *err);

/* For an array of descriptors that begin with `entry`. */
#define PX_REGISTRY_ARRAY(array) \
    .count = sizeof(array) / sizeof *(array), .first = &(array)->entry, .stride = sizeof *(array)
/* For an array of pointers to entries. */
#define PX_REGISTRY_POINTERS(array) .count = sizeof(array) / sizeof *(array), .entries = (array)

/* Declares a registry with the descriptors' own type: NOUN_count(), NOUN_get(i) and NOUN_find(id),
 * which give NULL where there is none, and NOUN_choose(id, &out, err) with advice. */
#define PX_REGISTRY(registry, type, noun)                                                  \
    PX_API extern const px_registry registry;                                              \
    static inline size_t noun##_count(void)                                                \
    {                                                                                      \
        return px_registry_count(&registry);                                               \
    }                                                                                      \
    static inline const type *noun##_get(size_t i)                                         \
    {                                                                                      \
        return (const type *)(const void *)px_registry_at(&registry, i);                   \
    }                                                                                      \
    static inline const type *noun##_find(const char *id)                                  \
    {                                                                                      \
        return (const type *)(const void *)px_registry_find(&registry, id);                \
    }                                                                                      \
    static inline px_status noun##_choose(const char *id, const type **out, px_error *err) \
    {                                                                                      \
        const px_entry *entry = NULL;                                                      \
        PX_TRY(px_registry_choose(&registry, id, &entry, err));                            \
        *out = (const type *)(const void *)entry;                                          \
        return PX_OK;                                                                      \
    }

PX_END_DECLS
#endif
