"""The page's own frame and style; the rest of its looks are those of the report."""
