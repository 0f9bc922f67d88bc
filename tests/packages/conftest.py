"""Files of work import packages that are not there: they are run in environments of their own, never collected."""

collect_ignore_glob = ["work/*"]
