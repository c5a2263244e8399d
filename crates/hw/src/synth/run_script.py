import sys

from pyosys import libyosys

design = libyosys.Design()
with open(sys.argv[1]) as script:
    for line in script:
        libyosys.run_pass(line.strip(), design)
