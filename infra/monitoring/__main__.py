"""`python -m infra.monitoring`: write what Terraform and people read from the tables."""

import sys

from infra.monitoring.files import files, parts, written

if __name__ == "__main__":
    for path, text in (files() | {path: written(path) for path in parts()}).items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name} is up to date\n")
