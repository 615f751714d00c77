"""The reports plugin: what other tools write for machines: JUnit XML, SARIF, and the output of ``go test -json``."""
