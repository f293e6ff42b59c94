"""Files that are not models': what is downloaded, and pictures."""
