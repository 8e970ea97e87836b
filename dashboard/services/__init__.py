"""Everything the pages ask of the engine.

Pages call these through the package (`services.subject()`), so that a test can put something else in their place.
Bringing models and data in is in `dashboard/loading.py`.
"""

from dashboard.services.baselines import baseline, compare_job, facts_here, pairs, set_baseline, submit_compare
from dashboard.services.bundles import bundle_url, write_bundle
from dashboard.services.desk import datasets, find_model, models, subject
from dashboard.services.documents import (
    Document,
    build,
    comparison,
    ensure_inspected,
    inspection,
    machine,
    machine_so_far,
    probed_at,
    profile,
    sweep,
)
from dashboard.services.figures import netron_figures
from dashboard.services.library import (
    DRAFT,
    candidate,
    candidates,
    current_candidate,
    draft,
    file_bytes,
    file_name,
    file_url,
    find_file,
    mixes,
    named_shapes,
    remove_mix,
    remove_shapes,
    save_draft,
    save_mix,
    save_shapes,
)
from dashboard.services.previews import preview
from dashboard.services.profiles import other_profile, other_profiles, unfinished_profile
from dashboard.services.runs import (
    all_runs,
    clean_jobs,
    delete_model,
    delete_run,
    disk_use,
    document_of,
    free_unused,
    lineage,
    unbuilt_mixes,
)
from dashboard.services.server import close, conditions, start, workspace
from dashboard.services.subjects import DEFAULTS, Subject
from dashboard.services.surroundings import place, versions
from dashboard.services.work import (
    ACTIVE,
    concerns,
    expected_sweep_s,
    find_job,
    give_to,
    job,
    job_of,
    jobs,
    log_tail,
    partial_of,
    partials,
    stop,
    submit,
    submit_again,
    submit_bring,
    submit_build,
    submit_convert,
    submit_inspect,
    submit_machine,
    submit_optimize,
    submit_profile,
    submit_sweep,
)

# fmt: off
__all__ = [
    "ACTIVE", "DEFAULTS", "DRAFT", "Document", "Subject", "all_runs", "baseline", "build", "bundle_url", "candidate",
    "candidates", "clean_jobs", "close", "compare_job", "comparison", "concerns", "conditions", "current_candidate",
    "datasets", "delete_model", "delete_run", "disk_use", "document_of", "draft", "ensure_inspected",
    "expected_sweep_s", "facts_here", "file_bytes", "file_name", "file_url", "find_file", "find_job", "find_model",
    "free_unused", "give_to", "inspection", "job", "job_of", "jobs", "lineage", "log_tail", "machine", "machine_so_far",
    "mixes", "models", "named_shapes", "netron_figures", "other_profile", "other_profiles", "pairs", "partial_of",
    "partials", "place", "preview", "probed_at", "profile", "remove_mix", "remove_shapes", "save_draft", "save_mix",
    "save_shapes", "set_baseline", "start", "stop", "subject", "submit", "submit_again", "submit_bring", "submit_build",
    "submit_compare", "submit_convert", "submit_inspect", "submit_machine", "submit_optimize", "submit_profile",
    "submit_sweep", "sweep", "unbuilt_mixes", "unfinished_profile", "versions", "workspace", "write_bundle",
]
# fmt: on
