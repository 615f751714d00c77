"""The history plugin: transcripts of runs, kept, read and compared."""
