"""The ECB's file, made up."""

import io
import zipfile

TABLE = (
    b"Date,USD,JPY,\n"
    b"2026-11-20,1.0511,162.3,\n"
    b"2026-11-19,1.0499,N/A,\n"
)  # fmt: skip


def packed(table: bytes = TABLE) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eurofxref-hist.csv", table)
    return file.getvalue()
