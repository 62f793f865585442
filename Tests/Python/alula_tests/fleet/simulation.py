"""The simulation of fleets, whose requests the tests send and whose forecasts they check."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "Benchmarks" / "fleet-simulation"))

from approximation import Approximation  # noqa: E402, F401
from configuration import Configuration  # noqa: E402, F401
from exact import Fleet as SimulatedFleet, shares  # noqa: E402, F401
from workload import Rendition, Workload  # noqa: E402, F401
