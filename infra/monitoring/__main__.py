"""`python -m infra.monitoring`: write what Terraform and people read from the tables."""

import sys

from infra.monitoring.files import files, write

if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name} is up to date\n")
    write()
    sys.stdout.write("operations.md is up to date\n")
