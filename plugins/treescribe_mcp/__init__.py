"""The MCP server: every operation as a tool, runs as child processes, and every call names its workspace."""
