"""What the page is made of, read as the package's data: its frame, its style, and its script in parts."""
