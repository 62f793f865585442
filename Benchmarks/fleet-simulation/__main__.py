import sys
from commands import main
main()
