"""Tables in files of any common kind: what the file is, its text, and its cells as they are written."""

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.files.table_file import FileTable, read_table_file

__all__ = ["FileTable", "ReadingOptions", "read_table_file"]
