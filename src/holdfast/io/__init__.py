"""Read tables from files and pipes, and turn their columns into numbers."""
